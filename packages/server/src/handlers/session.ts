import type { EventData, Methods } from '@groundcrew/protocol';
import type { EventDraft } from '@groundcrew/runtime';
import { allEvents } from '../all-events.js';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';
import { sendPrompt } from '../send-prompt.js';

type Names =
  | 'session.abort'
  | 'session.getMessages'
  | 'session.log'
  | 'session.send'
  | 'session.shutdown'
  | 'session.suspend';

export const sessionHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.send'(params, context) {
    if (!params.wait) return { messageId: await sendPrompt(params, context) };
    const { sendAndFollow } = await import('../prompt-end.js');
    const { messageId } = await sendAndFollow(params, context);
    return { messageId };
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

/** Typed clients know a closed list of reasons, and could not read a log with another one. */
function abortReasonOf(given: string | undefined): EventData<'abort'>['reason'] {
  return abortReasons.find((reason) => reason === given) ?? 'user_initiated';
}

const abortReasons = ['user_initiated', 'remote_command', 'user_abort', 'autopilot_credit_limit'] as const;

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
