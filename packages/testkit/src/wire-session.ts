import type { AnyEvent, EventData, EventType } from '@groundcrew/protocol';

/** An event of one kind, as a test reads it. */
export interface ReceivedEvent<K extends EventType> extends Omit<AnyEvent, 'type' | 'data'> {
  readonly type: K;
  readonly data: EventData<K>;
}

/** What a session needs of the client that has it. */
export interface SessionClient {
  call<T>(method: string, params?: unknown): Promise<T>;
  failure(method: string, params?: unknown): Promise<Record<string, unknown>>;
  events(sessionId: string): readonly AnyEvent[];
  until<T>(look: () => T | undefined, what: string): Promise<T>;
}

/** One client's view of one session; `next` reads on in its events, so that nothing is waited for twice. */
export class WireSession {
  /** `cursor`: how many events have been read already. */
  constructor(
    private readonly client: SessionClient,
    readonly sessionId: string,
    private cursor = 0,
  ) {}

  get events(): readonly AnyEvent[] {
    return this.client.events(this.sessionId);
  }

  call<T = Record<string, unknown>>(method: string, params: object = {}): Promise<T> {
    return this.client.call<T>(method, { sessionId: this.sessionId, ...params });
  }

  failure(method: string, params: object = {}): Promise<Record<string, unknown>> {
    return this.client.failure(method, { sessionId: this.sessionId, ...params });
  }

  send(prompt: string, more: object = {}): Promise<{ readonly messageId: string }> {
    return this.call('session.send', { prompt, ...more });
  }

  /** Sends a prompt and waits until the session is idle; the answer is all events meanwhile. */
  async turn(prompt: string, more: object = {}): Promise<readonly AnyEvent[]> {
    await this.send(prompt, more);
    return this.untilIdle();
  }

  /** All events from here to the next `session.idle`, which is the last of them. */
  async untilIdle(): Promise<readonly AnyEvent[]> {
    const from = this.cursor;
    await this.next('session.idle');
    return this.events.slice(from, this.cursor);
  }

  /** The next event of this kind that has not been read yet. */
  next<K extends EventType>(
    type: K,
    isWanted: (event: ReceivedEvent<K>) => boolean = () => true,
  ): Promise<ReceivedEvent<K>> {
    return this.client.until(() => {
      const { events } = this;
      for (let index = this.cursor; index < events.length; index++) {
        const event = events[index] as ReceivedEvent<K>;
        if (event.type !== type || !isWanted(event)) continue;
        this.cursor = index + 1;
        return event;
      }
      return undefined;
    }, type);
  }

  /** Answers an external tool call. */
  answerTool(requestId: string, answer: object): Promise<{ readonly success: boolean }> {
    return this.call('session.tools.handlePendingToolCall', { requestId, ...answer });
  }

  /** Decides on a permission request. */
  decide(requestId: string, result: object): Promise<{ readonly success: boolean }> {
    return this.call('session.permissions.handlePendingPermissionRequest', { requestId, result });
  }

  /** The stored events. */
  async stored(): Promise<readonly AnyEvent[]> {
    return (await this.call<{ events: readonly AnyEvent[] }>('session.getMessages')).events;
  }
}
