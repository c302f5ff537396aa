import { randomUUID } from 'node:crypto';
import {
  type EventData,
  type JsonObject,
  type Methods,
  type ParsedParams,
  withoutNulls,
} from '@groundcrew/protocol';
import type { EventDraft, Prompt, Session } from '@groundcrew/runtime';
import { allEvents } from '../all-events.js';
import { requirePromptSize } from '../bounds.js';
import { Refusal } from '../failure.js';
import type { CallContext, SessionHandlers } from '../handler.js';
import { traceFrom } from '../trace.js';

type Names =
  | 'session.abort'
  | 'session.getMessages'
  | 'session.log'
  | 'session.send'
  | 'session.shutdown'
  | 'session.suspend';

export const sessionHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.send'(params, context) {
    const { session } = context;
    requirePromptSize(typeof params.prompt === 'string' ? params.prompt : '', params.attachments ?? []);
    requirePromptSize(params.displayPrompt ?? '');
    const prompt: Prompt = {
      messageId: params.messageId ?? randomUUID(),
      text: typeof params.prompt === 'string' ? params.prompt : '',
      mode: params.mode === 'immediate' ? 'immediate' : 'enqueue',
      ...(params.displayPrompt !== undefined && { displayText: params.displayPrompt }),
      ...(params.agentMode !== undefined && { agentMode: params.agentMode }),
      ...(params.source !== undefined && { source: params.source }),
      ...(params.output && { output: wishOf(params.output) }),
      ...(params.attachments &&
        params.attachments.length > 0 && {
          attachments: params.attachments.map(withoutNulls) as JsonObject[],
        }),
    };
    const trace = traceFrom(params);
    await session.audience.renewGitHubTokens();
    session.optionWarnings.add(context.optionWarnings());
    await warnOfMode(session, params.mode);
    if (params.agentMode === 'shell') session.optionWarnings.add([shellMode]);
    await session.send(prompt, {
      isIdempotent: params.messageId !== undefined,
      ...(params.requestHeaders && {
        requestHeaders: { values: params.requestHeaders, strategy: strategyOf(params, context) },
      }),
      ...(trace && { trace }),
    });
    return { messageId: prompt.messageId };
  },
  async 'session.abort'({ reason }, { session }) {
    await session.abort(abortReasonOf(reason));
    return { success: true };
  },
  async 'session.shutdown'({ type, reason = 'The session was ended because of an error' }, context) {
    const { runtime, session, client } = context;
    await session.clientTasks.shutDown();
    await runtime.close(session.sessionId, type === 'error' ? { errorReason: reason } : {});
    client.detached(session.sessionId);
    return null;
  },
  async 'session.suspend'(_params, { session }) {
    await session.suspend();
    return null;
  },
  async 'session.getMessages'(_params, { session, client }) {
    return allEvents(session, client.dialect);
  },
  async 'session.log'(params, { session }) {
    const { message, level = 'info' } = params;
    if (message === undefined) throw new Refusal("missing parameter 'message'");
    const more = {
      ...(params.url !== undefined && { url: params.url }),
      ...(params.tip !== undefined && { tip: params.tip }),
    };
    const draft = notices[level](message, params.type ?? 'notification', more);
    if (params.ephemeral) return { eventId: await session.emit({ ...draft, ephemeral: true }) };
    const [event] = await session.record(draft);
    return { eventId: event?.id ?? '' };
  },
};

const shellMode =
  "The option 'agentMode': \"shell\" has no effect: the prompt goes to the model. 'session.shell.executeUserRequested' runs commands.";

/** Larger schemas would go to the model with every call. */
const largestSchema = 64 * 1024;

function wishOf({
  schema,
  name = 'answer',
}: {
  readonly schema: object;
  readonly name?: string | undefined;
}) {
  const length = JSON.stringify(schema).length;
  if (length > largestSchema)
    throw new Refusal(`output.schema has ${length} characters, at most ${largestSchema} are taken`);
  return { name, schema: schema as JsonObject, repairs: 0 };
}

/** Clients of some releases send the session's mode here; it has no effect, and they are warned. */
async function warnOfMode(session: Session, mode: string | undefined): Promise<void> {
  if (mode === undefined || mode === 'enqueue' || mode === 'immediate') return;
  const message = `The mode ${JSON.stringify(mode)} of session.send has no effect: it may be "enqueue" or "immediate". session.mode.set changes the mode of the session.`;
  await session.emit({
    type: 'session.warning',
    ephemeral: true,
    data: { warningType: 'configuration', message },
  });
}

/** Typed clients know a closed list of reasons, and could not read a log with another one. */
function abortReasonOf(given: string | undefined): EventData<'abort'>['reason'] {
  return abortReasons.find((reason) => reason === given) ?? 'user_initiated';
}

const abortReasons = ['user_initiated', 'remote_command', 'user_abort', 'autopilot_credit_limit'] as const;

function strategyOf(
  { headerMergeStrategy }: ParsedParams<Methods['session.send']>,
  { client }: CallContext,
): 'override' | 'merge' {
  return headerMergeStrategy ?? client.dialect.headerStrategy;
}

const notices: Readonly<
  Record<
    'info' | 'warning' | 'error',
    (message: string, type: string, more: { url?: string; tip?: string }) => EventDraft
  >
> = {
  info: (message, infoType, more) => ({ type: 'session.info', data: { infoType, message, ...more } }),
  warning: (message, warningType, { url }) => ({
    type: 'session.warning',
    data: { warningType, message, ...(url !== undefined && { url }) },
  }),
  error: (message, errorType, { url }) => ({
    type: 'session.error',
    data: { errorType, message, ...(url !== undefined && { url }) },
  }),
};
