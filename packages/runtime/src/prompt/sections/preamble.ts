import type { PromptSection } from '../section.js';

/** Who the agent is. */
export const preamble: PromptSection = ({ isCopilot }) => {
  const service = isCopilot ? ' through the GitHub Copilot API' : '';
  return `You are an agent that works for a developer, run by Groundcrew${service}. Take what you are asked to its end: look, act, check, and say what came of it.`;
};
