import { type PromptFacts, type PromptSection, tagged } from '../section.js';

/** What one file, or the organisation, says in the prompt. */
interface InstructionBlock {
  readonly id: string;
  readonly label: string;
  readonly text: string;
}

/** Instructions of the organisation, the user and the project, each with the files it holds for. */
export const customInstructions: PromptSection = (facts) => {
  const all = instructionBlocks(facts).map(({ text }) => text);
  return all.length === 0 ? '' : tagged('custom_instructions', [introduction, ...all].join('\n'));
};

/** The parts of the section, in their order. */
export function instructionBlocks({
  instructions,
  organizationInstructions = '',
}: Pick<PromptFacts, 'instructions' | 'organizationInstructions'>): readonly InstructionBlock[] {
  const blocks = instructions.sources.map(({ id, label, content, applyTo }) => {
    const scope = applyTo && !applyTo.includes('**') ? ` applyTo="${attribute(applyTo.join(','))}"` : '';
    const text = `<instructions source="${attribute(label)}"${scope}>\n${content}\n</instructions>`;
    return { id, label, text };
  });
  const organization = tagged('organization', organizationInstructions.trim());
  if (organization === '') return blocks;
  return [{ id: 'organization', label: 'Organisation', text: organization }, ...blocks];
}

const introduction =
  'Follow these instructions of the user and the project. Those with applyTo hold for files that match it only.';

function attribute(text: string): string {
  return text.replaceAll(/["<>\n\r]/g, '_');
}
