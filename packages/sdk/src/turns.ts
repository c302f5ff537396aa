import type { SessionEvent } from '@groundcrew/protocol';
import { GroundcrewError } from './errors.js';
import { OpenWork } from './open-work.js';
import { type AssistantMessageEvent, TurnWait } from './turn-wait.js';

/** Who waits for turns to end, and what the turns wait for. */
export class Turns {
  private readonly waits = new Set<TurnWait>();
  private readonly openWork = new OpenWork();

  receive(event: SessionEvent): void {
    this.openWork.receive(event);
    for (const wait of this.waits) wait.receive(event);
  }

  /** Ends every wait. */
  fail(error: Error): void {
    for (const wait of this.waits) wait.fail(error);
  }

  /** Waits for the turn of a prompt that `send` gives the session; the time and the signal end only the wait. */
  async wait(
    prompt: { readonly messageId: string; readonly timeout: number; send(wait: TurnWait): Promise<void> },
    signal?: AbortSignal,
  ): Promise<AssistantMessageEvent | undefined> {
    signal?.throwIfAborted();
    const { messageId, timeout, send } = prompt;
    const wait = new TurnWait(messageId);
    const stop = () => wait.fail(signal?.reason);
    const timer =
      timeout <= longestTimer ? setTimeout(() => wait.fail(this.timedOut(timeout)), timeout) : undefined;
    signal?.addEventListener('abort', stop, { once: true });
    this.waits.add(wait);
    try {
      send(wait).catch((error: unknown) => wait.fail(error));
      return await wait.done;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      this.waits.delete(wait);
    }
  }

  private timedOut(timeout: number): GroundcrewError {
    const text = `Timeout after ${timeout / 1000}s waiting for session.idle`;
    return new GroundcrewError('timeout', `${text}: the session waits for ${this.openWork.describe()}`);
  }
}

/** Node's timers know no longer time, and take one for none. */
const longestTimer = 2 ** 31 - 1;
