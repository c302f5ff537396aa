import { type Hooks, outputsOf } from './hooks.js';
import { contextsOf } from './tool-hooks.js';

/** A prompt after hooks have seen it as it was written. */
export interface SubmittedPrompt {
  readonly text: string;
  /** What hooks add to it for the model. */
  readonly contexts: readonly string[];
}

/** Shows a prompt to hooks, as it was written; each sees what the one before made of it. */
export async function submitPrompt(
  hooks: Hooks,
  text: string,
  signal: AbortSignal,
): Promise<SubmittedPrompt> {
  const answers = await hooks.run('userPromptSubmitted', { prompt: text }, signal, (input, output) =>
    typeof output.modifiedPrompt === 'string' ? { ...input, prompt: output.modifiedPrompt } : input,
  );
  const outputs = outputsOf(answers);
  const modified = outputs.findLast(
    ({ modifiedPrompt }) => typeof modifiedPrompt === 'string',
  )?.modifiedPrompt;
  return { text: modified ?? text, contexts: contextsOf(outputs) };
}

/** What hooks add to a prompt stands at its end. */
export function remindersOf(contexts: readonly string[]): string {
  return contexts.map((text) => `\n\n<system_reminder>\n${text}\n</system_reminder>`).join('');
}
