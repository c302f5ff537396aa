import type { EventOf, SessionEvent } from '@groundcrew/protocol';
import { GroundcrewError, OutputError } from './errors.js';

/** The last thing the agent said. */
export type AssistantMessageEvent = EventOf<'assistant.message'>;

/** Waits until the turn of one prompt is over, and knows it from the turns before. */
export class TurnWait {
  readonly done: Promise<AssistantMessageEvent | undefined>;
  private resolve: (message: AssistantMessageEvent | undefined) => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private isAcknowledged = false;
  private begun = false;
  private last: AssistantMessageEvent | undefined;

  constructor(private readonly messageId: string) {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // A waiting caller gets the failure; it may come before there is one.
    this.done.catch(() => undefined);
  }

  /** The prompt is part of the conversation; with runtimes that do not say whose prompt it is, the next prompt counts. */
  get hasBegun(): boolean {
    return this.begun;
  }

  /** The runtime has the prompt. */
  acknowledge(): void {
    this.isAcknowledged = true;
  }

  receive(event: SessionEvent): void {
    if (event.agentId !== undefined) return;
    switch (event.type) {
      case 'user.message':
        this.begun ||= event.data.messageId === undefined || event.data.messageId === this.messageId;
        return;
      case 'assistant.message':
        if (this.hasBegun) this.last = event;
        return;
      case 'session.error':
        // A notice that an app logs is an event of the same type, and ends no turn.
        if (this.isOurs() && event.data.errorType !== 'notification') this.fail(failureOf(event.data));
        return;
      case 'session.idle':
        // Stopped before our prompt had its turn: that idle was another turn's.
        if (this.hasBegun || (this.isAcknowledged && !event.data.aborted)) this.resolve(this.last);
        return;
      default:
        return;
    }
  }

  succeed(message: AssistantMessageEvent | undefined): void {
    this.resolve(message);
  }

  fail(error: unknown): void {
    this.reject(error);
  }

  private isOurs(): boolean {
    return this.hasBegun || this.isAcknowledged;
  }
}

function failureOf({ errorType, message, lastText = '' }: EventOf<'session.error'>['data']): GroundcrewError {
  if (errorType === 'structured_output') return new OutputError(message, lastText);
  return new GroundcrewError('session_error', `Session error: ${message}`);
}

/** What the turn of a prompt ended with, read from the log; undefined also when there is no such prompt. */
export function lastMessageOf(
  events: readonly SessionEvent[],
  messageId: string,
): AssistantMessageEvent | undefined {
  const start = events.findIndex(
    (event) => event.type === 'user.message' && event.data.messageId === messageId,
  );
  if (start < 0) return undefined;
  const after = events.slice(start + 1);
  const next = after.findIndex(
    (event) => event.type === 'user.message' && event.data.delivery !== 'steering',
  );
  const turn = next < 0 ? after : after.slice(0, next);
  return turn.findLast((event) => event.type === 'assistant.message' && event.agentId === undefined) as
    | AssistantMessageEvent
    | undefined;
}
