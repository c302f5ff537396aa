import { randomUUID } from 'node:crypto';
import type { EventData, Methods, ParsedParams, Result, SessionEvent } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { Refusal } from './failure.js';
import type { SessionCallContext } from './handler.js';
import { sendPrompt } from './send-prompt.js';

/** How a prompt ended, as the events of its session show it. */
interface PromptEnd {
  readonly aborted: boolean;
  readonly completionEventId?: string;
  readonly response?: SessionEvent;
  readonly error?: string;
}

/** The prompt that is followed. */
interface FollowedRef {
  readonly messageId: string;
  readonly isBare?: boolean;
  /** Its sender chose the id: it may have been sent before. */
  readonly mayBeKnown?: boolean;
}

/** Sends a prompt to the session and waits for the end of its turn; throws where the turn ends with an error. */
export async function sendAndFollow(
  params: ParsedParams<Methods['session.send']>,
  context: SessionCallContext,
): Promise<Result<Methods['session.sendAndWait']>> {
  const messageId = params.messageId ?? randomUUID();
  const end = await followed(context, { messageId, mayBeKnown: params.messageId !== undefined }, () =>
    sendPrompt(params, context, messageId),
  );
  const { response, aborted, completionEventId } = end;
  return {
    messageId,
    aborted,
    ...(completionEventId !== undefined && { completionEventId }),
    ...(response && { response }),
  };
}

/** Calls `send`, which sends the prompt, and waits for the end of its turn; throws where the turn ends with an error. */
export async function followed(
  { session, signal }: SessionCallContext,
  prompt: FollowedRef,
  send: () => Promise<unknown>,
): Promise<PromptEnd> {
  const { promise, resolve, reject } = resolvers();
  const stop = () => reject(signal.reason);
  const followed = new FollowedPrompt(session, prompt, resolve);
  signal.addEventListener('abort', stop, { once: true });
  try {
    await send();
    followed.sent();
    const end = await promise;
    if (end.error !== undefined) throw new Refusal(`Session error: ${end.error}`);
    return end;
  } finally {
    signal.removeEventListener('abort', stop);
    followed.close();
  }
}

/** One prompt, followed through the events that all clients receive. */
class FollowedPrompt {
  private interactionId: string | undefined;
  /** It is stored. What ends before that, ends for prompts that came before it. */
  private isSent = false;
  private hasBegun = false;
  private wasQueued = false;
  private isAborted = false;
  private response: SessionEvent | undefined;
  private error: string | undefined;
  readonly close: () => void;

  constructor(
    private readonly session: Session,
    private readonly prompt: FollowedRef,
    private readonly resolve: (end: PromptEnd) => void,
  ) {
    this.close = session.audience.watch((published) => {
      if (followedTypes.has(published.type) && published.event.agentId === undefined)
        this.received(published.event);
    });
  }

  /** The prompt is stored. One whose id was sent before may have had its turn long ago. */
  sent(): void {
    const { mayBeKnown = false } = this.prompt;
    this.isSent = true;
    this.wasQueued = this.isWaiting || !mayBeKnown;
    if (this.hasBegun || this.isWaiting) return;
    if (!mayBeKnown) void this.lookForIt();
    else if (!this.session.isRunning) this.finish({ aborted: false });
  }

  /** Hooks may end a prompt before it is a message, and before its sender knows that it is stored. */
  private get mayHaveFailed(): boolean {
    return !this.isWaiting && (this.isSent || !this.prompt.isBare);
  }

  private get isWaiting(): boolean {
    const { messageId } = this.prompt;
    return this.session.openLog?.latest.inbox.some((each) => each.messageId === messageId) ?? true;
  }

  private received(event: SessionEvent): void {
    switch (event.type) {
      case 'user.message':
        this.message(event.data);
        return;
      case 'assistant.turn_start':
        this.hasBegun ||= this.isSent && this.prompt.isBare === true && !this.isWaiting;
        return;
      case 'assistant.message':
        if (!this.hasBegun) return;
        this.response = event;
        this.error = undefined;
        return;
      case 'abort':
        this.isAborted ||= this.hasBegun;
        return;
      case 'session.error':
        if (this.hasBegun || this.mayHaveFailed) this.error = event.data.message;
        return;
      case 'session.idle':
        if (!this.hasBegun && (!this.isSent || this.isWaiting)) return;
        this.finish({ aborted: event.data.aborted === true, completionEventId: event.id });
        return;
      case 'session.shutdown':
        this.finish({ aborted: true });
        return;
      default:
        if (!this.hasBegun && this.wasQueued) void this.lookForIt();
    }
  }

  private message(data: EventData<'user.message'>): void {
    if (data.messageId === this.prompt.messageId) {
      this.hasBegun = true;
      this.error = undefined;
      this.interactionId = data.interactionId;
      return;
    }
    const isNext = data.delivery === 'queued' && !data.isAutopilotContinuation;
    if (this.hasBegun && isNext && data.interactionId !== this.interactionId)
      this.finish({ aborted: this.isAborted });
  }

  /** A prompt that neither waits nor has become a message was taken back. */
  private async lookForIt(): Promise<void> {
    if (this.isWaiting) return;
    await this.session.openLog?.published().catch(() => undefined);
    if (!this.hasBegun && !this.prompt.isBare) this.finish({ aborted: true });
  }

  private finish(end: Pick<PromptEnd, 'aborted' | 'completionEventId'>): void {
    const { response, error } = this;
    this.resolve({ ...end, ...(response && { response }), ...(error !== undefined && { error }) });
  }
}

const followedTypes: ReadonlySet<string> = new Set([
  'user.message',
  'assistant.turn_start',
  'assistant.message',
  'abort',
  'session.error',
  'session.idle',
  'session.shutdown',
  'pending_messages.modified',
]);

function resolvers() {
  let resolve: (end: PromptEnd) => void = () => undefined;
  let reject: (reason: unknown) => void = () => undefined;
  const promise = new Promise<PromptEnd>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  // An abort may reject this promise before it is awaited: that is no unhandled rejection.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
