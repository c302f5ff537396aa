import { type PromptSection, tagged } from '../section.js';

/** What is to be known of each tool, beyond its description. */
export const toolInstructions: PromptSection = ({ toolset }) => {
  const notes = toolset.tools.flatMap(({ name, notes: text }) => (text ? [tagged(name, text)] : []));
  return tagged('tools', notes.join('\n'));
};
