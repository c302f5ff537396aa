import type { Toolset } from '../tools/toolset.js';
import type { Instructions } from './instructions.js';

/** What the prompt may speak of. */
export interface PromptFacts {
  readonly workingDirectory: string;
  readonly gitRoot?: string;
  readonly platform: string;
  readonly model: string;
  readonly version: string;
  readonly toolset: Toolset;
  /** The model is reached through the Copilot API. */
  readonly isCopilot: boolean;
  readonly mode: 'interactive' | 'plan' | 'autopilot';
  /** Where the session's plan is written. */
  readonly planPath: string;
  /** What files say; the same object as long as they say the same. */
  readonly instructions: Instructions;
  readonly organizationInstructions?: string;
}

/** One part of the system prompt: facts in, text out. An empty text leaves it out. */
export type PromptSection = (facts: PromptFacts) => string;

/** A part between tags, so that the model sees where it ends. */
export function tagged(tag: string, text: string): string {
  return text === '' ? '' : `<${tag}>\n${text}\n</${tag}>`;
}
