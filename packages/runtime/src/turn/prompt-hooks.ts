import type { JsonObject } from '@groundcrew/protocol';
import type { HookOutput, Hooks } from '../hooks/hooks.js';
import { contextsOf } from '../hooks/tool-hooks.js';
import { type FormatOptions, type FormattedPrompt, formatPrompt } from '../prompt/user-message.js';
import type { AgentContext } from './context.js';

/** A prompt after hooks have seen it as the user wrote it. */
export interface SubmittedPrompt {
  readonly text: string;
  /** What hooks add to it for the model. */
  readonly contexts: readonly string[];
}

/** Shows a prompt to hooks, as the user wrote it; each sees what the one before made of it. */
export async function submitPrompt(
  hooks: Hooks,
  text: string,
  signal: AbortSignal,
): Promise<SubmittedPrompt> {
  if (hooks.isEmpty) return { text, contexts: [] };
  const answers = await hooks.run('userPromptSubmitted', { prompt: text }, signal, (input, output) =>
    typeof output.modifiedPrompt === 'string' ? { ...input, prompt: output.modifiedPrompt } : input,
  );
  const outputs = outputsOf(answers);
  const modified = outputs.findLast(
    ({ modifiedPrompt }) => typeof modifiedPrompt === 'string',
  )?.modifiedPrompt;
  return { text: modified ?? text, contexts: contextsOf(outputs) };
}

/** A prompt as the model gets it, after hooks have seen that too. */
export async function formatWithHooks(
  { text, contexts }: SubmittedPrompt,
  attachments: readonly JsonObject[],
  options: FormatOptions & { readonly hooks: Hooks; readonly signal: AbortSignal },
): Promise<FormattedPrompt> {
  const formatted = await formatPrompt(text, attachments, options);
  return { ...formatted, text: await transformPrompt(text, formatted.text + remindersOf(contexts), options) };
}

/** Hooks may replace the whole text that the model gets. */
export async function transformPrompt(
  prompt: string,
  transformedPrompt: string,
  { hooks, signal }: { readonly hooks: Hooks; readonly signal: AbortSignal },
): Promise<string> {
  if (hooks.isEmpty) return transformedPrompt;
  const answers = await hooks.run(
    'userPromptTransformed',
    { prompt, transformedPrompt },
    signal,
    (input, output) => {
      const { modifiedTransformedPrompt: modified } = output;
      return typeof modified === 'string' ? { ...input, transformedPrompt: modified } : input;
    },
  );
  const modified = outputsOf(answers).findLast(
    ({ modifiedTransformedPrompt }) => typeof modifiedTransformedPrompt === 'string',
  );
  return modified?.modifiedTransformedPrompt ?? transformedPrompt;
}

/** What hooks add to a prompt stands at its end. */
export function remindersOf(contexts: readonly string[]): string {
  return contexts.map((text) => `\n\n<system_reminder>\n${text}\n</system_reminder>`).join('');
}

/** Called once, at the first turn of a session in this process: context stands before the prompt. */
export async function startSession(context: AgentContext, signal: AbortSignal): Promise<void> {
  const { hooks, log, interaction, session } = context;
  if (hooks.isEmpty || !session.takeStart()) return;
  const prompt = log.latest.history.findLast((entry) => entry.role === 'user');
  const source = log.session.userTurns > 1 ? 'resume' : 'new';
  const { promptText: initialPrompt } = interaction;
  const answers = await hooks.run('sessionStart', { source, initialPrompt }, signal);
  const outputs = outputsOf(answers);
  for (const text of contextsOf(outputs))
    if (prompt) log.append({ note: 'context.inserted', data: { beforeEventId: prompt.eventId, text } });
  for (const { modifiedConfig } of outputs) if (modifiedConfig) await session.configure(modifiedConfig);
}

/** Why the agent may not stop yet, as hooks say; undefined when it may. */
export async function blockOf(context: AgentContext, signal: AbortSignal): Promise<string | undefined> {
  const { hooks, interaction, session } = context;
  if (hooks.isEmpty || interaction.blocks >= session.limits.stopBlocks) return undefined;
  const transcriptPath = await session.writeTranscript();
  const input = { transcriptPath, stopReason: 'end_turn' as const, stop_hook_active: interaction.blocks > 0 };
  const answers = await hooks.run('agentStop', input, signal);
  const block = outputsOf(answers).find(({ decision }) => decision === 'block');
  return block && (block.reason || 'A hook asked to go on.');
}

function outputsOf<K extends Parameters<Hooks['run']>[0]>(
  answers: readonly ({ readonly output: HookOutput<K> | undefined } | { readonly failure: string })[],
): readonly HookOutput<K>[] {
  return answers.flatMap((answer) => ('output' in answer && answer.output ? [answer.output] : []));
}
