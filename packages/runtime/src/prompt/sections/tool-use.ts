import { type PromptSection, tagged } from '../section.js';

/** What is to be known of each tool, beyond its description. */
export const toolInstructions: PromptSection = ({ toolset }) => {
  const notes = toolset.tools.flatMap(({ name, notes: text }) => (text ? [tagged(name, text)] : []));
  return tagged('tools', notes.join('\n'));
};

/** How tools are used well. */
export const toolEfficiency: PromptSection = ({ toolset }) => {
  if (toolset.tools.length === 0) return '';
  return `# Using tools
Make calls that do not depend on each other in one message. Ask for exactly what you need: a range of a file, a narrow search. Do not repeat a call whose result you have, and do not call a tool to say something.`;
};
