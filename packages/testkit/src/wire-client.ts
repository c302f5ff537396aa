import { type AnyEvent, methods, notifications } from '@groundcrew/protocol';
import { type Channel, Connection, type Encoded, type Message } from '@groundcrew/rpc';
import { EventExaminer } from './examine.js';
import { WireSession } from './wire-session.js';

/** What reached a client, in the order it came. */
export type Frame =
  | { readonly type: 'reply'; readonly method: string; readonly isError: boolean }
  | { readonly type: 'event'; readonly sessionId: string; readonly event: AnyEvent }
  | { readonly type: 'lifecycle'; readonly kind: string; readonly sessionId: string }
  | { readonly type: 'other'; readonly message: Message };

/** A client that hides nothing: every frame is kept, parsed by the protocol's own tables, and may be waited for. */
export class WireClient {
  readonly frames: Frame[] = [];
  /** What the protocol's tables do not allow; a test ends with none. */
  readonly problems: string[] = [];
  readonly connection: Connection;
  /** Answers what the runtime asks; a test that is asked anything puts its own here. */
  answer: (method: string, params: unknown, signal: AbortSignal) => Promise<unknown> = async (method) =>
    Promise.reject(new Error(`Unhandled method ${method}`));
  private readonly received = new Map<string, AnyEvent[]>();
  private readonly examiners = new Map<string, EventExaminer>();
  private readonly methodOf = new Map<unknown, string>();
  private readonly listeners = new Set<() => void>();

  constructor(channel: Channel) {
    this.connection = new Connection(
      this.recording(channel),
      { onRequest: (method, params, call) => this.answer(method, params, call.signal) },
      { maxQueuedBytes: Number.POSITIVE_INFINITY },
    );
  }

  /** Asks; the answer is as it came. */
  async call<T = Record<string, unknown>>(method: string, params?: unknown): Promise<T> {
    return (await this.connection.request(method, params)) as T;
  }

  /** Asks for what must fail; the answer is the error's code, message and data. */
  async failure(method: string, params?: unknown): Promise<Record<string, unknown>> {
    try {
      return { result: await this.connection.request(method, params) };
    } catch (error) {
      const { code, message, data } = error as { code?: number; message: string; data?: unknown };
      return { code, message, ...(data !== undefined && { data }) };
    }
  }

  async create(params: Readonly<Record<string, unknown>> = {}): Promise<WireSession> {
    const { sessionId } = await this.call<{ sessionId: string }>('session.create', newClient(params));
    return new WireSession(this, sessionId);
  }

  async resume(sessionId: string, params: Readonly<Record<string, unknown>> = {}): Promise<WireSession> {
    const cursor = this.events(sessionId).length;
    await this.call('session.resume', { sessionId, ...newClient(params) });
    return new WireSession(this, sessionId, cursor);
  }

  events(sessionId: string): readonly AnyEvent[] {
    return this.received.get(sessionId) ?? [];
  }

  /** What is wrong with all events, over all sessions. */
  examine(): readonly string[] {
    const found = [...this.received].flatMap(([sessionId, events]) => {
      const examiner = this.examiners.get(sessionId) ?? new EventExaminer();
      this.examiners.set(sessionId, examiner);
      return examiner.examine(events);
    });
    return [...this.problems, ...found];
  }

  /** Frames as lines, from a place on: replies by method, events and lifecycles by type. */
  order(from = 0): readonly string[] {
    return this.frames.slice(from).map((frame) => {
      if (frame.type === 'reply') return `${frame.isError ? 'error' : 'reply'} ${frame.method}`;
      if (frame.type === 'event') return frame.event.type + (frame.event.ephemeral ? '~' : '');
      return frame.type === 'lifecycle' ? `lifecycle ${frame.kind}` : 'other';
    });
  }

  /** Resolves with the first value that is there, now or after some later frame. */
  async until<T>(look: () => T | undefined, what: string): Promise<T> {
    const found = look();
    if (found !== undefined) return found;
    return new Promise<T>((resolve, reject) => {
      const check = () => {
        const value = look();
        if (value === undefined) return;
        stop();
        resolve(value);
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`Waited in vain for ${what}; so far: ${this.order().slice(-40).join(' | ')}`));
      }, patience);
      const stop = () => {
        clearTimeout(timer);
        this.listeners.delete(check);
      };
      this.listeners.add(check);
    });
  }

  async close(): Promise<void> {
    await this.connection.close();
  }

  private recording(channel: Channel): Channel {
    const take = (message: Message) => this.take(message);
    const remember = (message: Message | Encoded) => {
      if ('method' in message && 'id' in message) this.methodOf.set(message.id, message.method);
    };
    return {
      get queuedBytes() {
        return channel.queuedBytes;
      },
      send(message) {
        remember(message);
        return channel.send(message);
      },
      drained: () => channel.drained(),
      close: () => channel.close(),
      messages: rawFrames(channel.messages, take),
    };
  }

  private take(message: Message): void {
    this.frames.push(this.frameOf(message));
    for (const listener of [...this.listeners]) listener();
  }

  private frameOf(message: Message): Frame {
    if ('method' in message) return this.noticeOf(message);
    const method = this.methodOf.get(message.id) ?? 'unknown';
    this.methodOf.delete(message.id);
    if ('result' in message) this.checkResult(method, message.result);
    return { type: 'reply', method, isError: 'error' in message };
  }

  private noticeOf(message: Extract<Message, { method: string }>): Frame {
    const { method, params } = message;
    if (method === 'session.event') {
      const { sessionId, event } = params as { sessionId: string; event: AnyEvent };
      const events = this.received.get(sessionId);
      if (events) events.push(event);
      else this.received.set(sessionId, [event]);
      return { type: 'event', sessionId, event };
    }
    if (method !== 'session.lifecycle') return { type: 'other', message };
    const parsed = notifications['session.lifecycle'].params().safeParse(params);
    if (!parsed.success) this.problems.push(`session.lifecycle: ${parsed.error.message}`);
    const { type, sessionId } = params as { type: string; sessionId: string };
    return { type: 'lifecycle', kind: type, sessionId };
  }

  private checkResult(method: string, result: unknown): void {
    if (!Object.hasOwn(methods, method)) return;
    const parsed = methods[method as keyof typeof methods].result().safeParse(result);
    if (!parsed.success) this.problems.push(`result of ${method}: ${parsed.error.message}`);
  }
}

/** Long enough for a slow machine; a wait this long has failed. */
const patience = 18_000;

/** What the newest clients always send. */
function newClient(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return { toolFilterPrecedence: 'excluded', requestPermission: true, ...params };
}

async function* rawFrames(
  messages: AsyncIterable<Message>,
  take: (message: Message) => void,
): AsyncGenerator<Message> {
  for await (const message of messages) {
    take(message);
    yield message;
  }
}
