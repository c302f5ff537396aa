import type { JsonObject } from '@groundcrew/protocol';
import { reportError } from '../hooks/error-hooks.js';
import { type Hooks, outputsOf } from '../hooks/hooks.js';
import { remindersOf, type SubmittedPrompt } from '../hooks/submitted-prompt.js';
import { contextsOf } from '../hooks/tool-hooks.js';
import { TurnAborted } from '../interruption.js';
import type { Draft } from '../log/session-log.js';
import { type FormatOptions, type FormattedPrompt, formatPrompt } from '../prompt/user-message.js';
import type { AgentContext } from './agent-context.js';

/** A prompt as the model gets it, after hooks have seen that too. */
export async function formatWithHooks(
  { text, contexts }: SubmittedPrompt,
  attachments: readonly JsonObject[],
  options: FormatOptions & { readonly hooks: Hooks; readonly signal: AbortSignal },
): Promise<FormattedPrompt> {
  const formatted = await formatReadable(text, attachments, options);
  return { ...formatted, text: await transformPrompt(text, formatted.text + remindersOf(contexts), options) };
}

/** Hooks learn of attachments that cannot be read, and may have them read again or give the prompt up. */
async function formatReadable(
  text: string,
  attachments: readonly JsonObject[],
  options: FormatOptions & { readonly hooks: Hooks; readonly signal: AbortSignal },
): Promise<FormattedPrompt> {
  const { hooks, signal } = options;
  for (let tries = 0; ; tries += 1) {
    const formatted = await formatPrompt(text, attachments, options);
    if (formatted.problems.length === 0) return formatted;
    const error = `Attachments could not be read: ${formatted.problems.join('; ')}`;
    const input = { error, errorContext: 'user_input', recoverable: true };
    const { action, retryCount } = await reportError(hooks, input, signal);
    if (action === 'abort') throw new TurnAborted('user_abort');
    if (action !== 'retry' || tries >= retryCount) return formatted;
  }
}

/** Hooks may replace the whole text that the model gets. */
export async function transformPrompt(
  prompt: string,
  transformedPrompt: string,
  { hooks, signal }: { readonly hooks: Hooks; readonly signal: AbortSignal },
): Promise<string> {
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

/**
 * Called once, at the first turn of a session in this process: context stands before the prompt. True when hooks have
 * changed what the session goes by.
 */
export async function startSession(context: AgentContext, signal: AbortSignal): Promise<boolean> {
  const { hooks, log, interaction, session } = context;
  if (!hooks.has('sessionStart') || !session.takeStart()) return false;
  const prompt = log.latest.history.findLast((entry) => entry.role === 'user');
  const source = log.session.userTurns > 1 ? 'resume' : 'new';
  const { promptText: initialPrompt } = interaction;
  const outputs = outputsOf(await hooks.run('sessionStart', { source, initialPrompt }, signal));
  for (const text of contextsOf(outputs))
    if (prompt) log.append({ note: 'context.inserted', data: { beforeEventId: prompt.eventId, text } });
  const changes = outputs.flatMap(({ modifiedConfig }) => modifiedConfig ?? []);
  for (const change of changes) {
    log.append(...configWarnings(change));
    await session.configure(change);
  }
  return changes.length > 0;
}

const configFields = ['model', 'reasoningEffort', 'availableTools', 'excludedTools'];

/** What a hook wants changed and cannot change. */
function configWarnings(change: object): Draft[] {
  const unknown = Object.keys(change).filter((name) => !configFields.includes(name));
  return unknown.map((name) => ({
    type: 'session.warning',
    data: {
      warningType: 'hooks',
      message: `A sessionStart hook set '${name}' in modifiedConfig, which has no effect. It may set ${configFields.join(', ')}.`,
    },
  }));
}

/** Why the agent may not stop yet, as hooks say; undefined when it may. */
export async function blockOf(context: AgentContext, signal: AbortSignal): Promise<string | undefined> {
  const { hooks, interaction, session } = context;
  // Sub-agents end with hooks of their own.
  if (context.log.agentId !== undefined) return undefined;
  const limits = hooks
    .sourcesFor('agentStop')
    .map(({ stopBlocks }) => stopBlocks ?? session.limits.stopBlocks);
  if (interaction.blocks >= Math.max(0, ...limits)) return undefined;
  const transcriptPath = await session.writeTranscript();
  const input = { transcriptPath, stopReason: 'end_turn' as const, stop_hook_active: interaction.blocks > 0 };
  const answers = await hooks.run('agentStop', input, signal);
  const block = outputsOf(answers).find(({ decision }) => decision === 'block');
  return block && (block.reason || 'A hook asked to go on.');
}
