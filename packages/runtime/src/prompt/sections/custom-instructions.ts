import { type PromptSection, tagged } from '../section.js';

/** Instructions of the organisation, the user and the project, each with the files it holds for. */
export const customInstructions: PromptSection = ({ instructions, organizationInstructions = '' }) => {
  const blocks = instructions.sources.map(({ label, content, applyTo }) => {
    const scope = applyTo && !applyTo.includes('**') ? ` applyTo="${attribute(applyTo.join(','))}"` : '';
    return `<instructions source="${attribute(label)}"${scope}>\n${content}\n</instructions>`;
  });
  const organization = organizationInstructions.trim();
  const all = [...(organization === '' ? [] : [tagged('organization', organization)]), ...blocks];
  return all.length === 0 ? '' : tagged('custom_instructions', [introduction, ...all].join('\n'));
};

const introduction =
  'Follow these instructions of the user and the project. Those with applyTo hold for files that match it only.';

function attribute(text: string): string {
  return text.replaceAll(/["<>\n\r]/g, '_');
}
