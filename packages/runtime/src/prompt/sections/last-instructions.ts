import type { PromptSection } from '../section.js';

/** What stands at the end. */
export const lastInstructions: PromptSection = () =>
  'Go on until the task is done or you need the user. Then stop, and tell in one short paragraph what you did, what you checked and what is left.';
