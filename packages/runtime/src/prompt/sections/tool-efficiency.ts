import type { PromptSection } from '../section.js';

/** How tools are used well. */
export const toolEfficiency: PromptSection = ({ toolset }) => {
  if (toolset.tools.length === 0) return '';
  return `# Using tools
Make calls that do not depend on each other in one message. Ask for exactly what you need: a range of a file, a narrow search. Do not repeat a call whose result you have, and do not call a tool to say something.`;
};
