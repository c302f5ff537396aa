import { type PromptFacts, tagged } from './section.js';
import { safety } from './sections/conduct.js';
import { customInstructions } from './sections/custom-instructions.js';
import { environmentContext } from './sections/environment-context.js';
import { toolInstructions } from './sections/tool-use.js';

/** What a sub-agent reads before anything else: its own prompt, and what holds for all agents of the session. */
export function agentPrompt(facts: PromptFacts, prompt: string, skills: readonly string[]): string {
  const parts = [
    prompt,
    ...skills,
    safety(facts),
    environmentContext(facts),
    toolInstructions(facts),
    customInstructions(facts),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** What the agent that leads a session adds to the prompt. */
export function leadingPrompt(prompt: string, skills: readonly string[]): string {
  return tagged('agent_instructions', [prompt, ...skills].filter((part) => part !== '').join('\n\n'));
}
