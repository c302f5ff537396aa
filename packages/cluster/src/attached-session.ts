import { randomUUID } from 'node:crypto';
import type { RoutedClient } from '@groundcrew/server';
import type { SessionStore } from '@groundcrew/store';
import type { ForwardedEvent, NodeLink } from './node-link.js';

/** Fields of create and resume that hold for that one call, and are not repeated at the next node. */
const once: ReadonlySet<string> = new Set([
  'agent',
  'continuePendingWork',
  'disableResume',
  'model',
  'reasoningEffort',
  'sandbox',
  'sandboxConfig',
  'sessionLimits',
  'takeOver',
  'traceparent',
  'tracestate',
  'waiveHooks',
  'workingDirectory',
]);

/** A session that a client is attached to, wherever it is, and how far the client has got in its events. */
export class AttachedSession {
  /** Where it is now; undefined while it is looked for. */
  link: NodeLink | undefined;
  /** Set while the session's node is looked up and missed events are read. */
  moving: Promise<void> | undefined;
  /** What a client that opened it gave, for the node that has it next. */
  #params: Record<string, unknown> = {};
  #lastSeq: number;
  /** Events from the new node that wait until the missed events have been sent. */
  #held: ForwardedEvent[] | undefined;
  #warning: string | undefined;
  /** The client has received that a turn began, and not that it ended. */
  #isBusy = false;

  constructor(
    readonly sessionId: string,
    private readonly client: RoutedClient,
    seq: number,
  ) {
    this.#lastSeq = seq;
  }

  /** What this client brings stays the same until it opens the session again. */
  opened(params: Record<string, unknown>): void {
    const kept = Object.entries(params).filter(([field]) => !once.has(field));
    this.#params = { ...this.#params, ...Object.fromEntries(kept) };
  }

  /** How the session is opened at another node without a trace in its log. */
  get reopening(): Record<string, unknown> {
    const { sessionId } = this;
    return { ...this.#params, sessionId, continuePendingWork: true, disableResume: true };
  }

  receive(event: ForwardedEvent): void {
    if (this.#held) this.#held.push(event);
    else this.#send(event);
  }

  /** From now on what comes waits until `catchUp` has sent what was missed. */
  hold(): void {
    this.#held = [];
  }

  /** Sends what the log has since the last event that the client received, then what waited. Gapless, and nothing twice. */
  async catchUp(store: Pick<SessionStore, 'read'>, isIdle: () => Promise<boolean>): Promise<void> {
    const { client, sessionId } = this;
    for await (const records of store.read(sessionId, this.#lastSeq))
      for (const record of records) {
        const frame = record.isPublic ? client.eventOf(sessionId, record) : undefined;
        this.#lastSeq = record.seq;
        if (!frame) continue;
        this.#note(record.type);
        if (!client.send(frame)) await client.drained();
      }
    const sawIdle = () => this.#held?.some(({ event }) => event.type === 'session.idle') ?? false;
    const isOver = this.#isBusy && !sawIdle() && (await isIdle());
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const event of held) this.#send(event);
    if (isOver && this.#isBusy) this.#send({ sessionId, event: ephemeral('session.idle', {}) });
  }

  /** Sends the client the reason why its session does not go on, once for each reason. */
  warn(message: string): void {
    if (this.#warning === message) return;
    this.#warning = message;
    const { sessionId } = this;
    this.#send({ sessionId, event: ephemeral('session.warning', { warningType: 'node', message }) });
  }

  #send({ sessionId, event, seq }: ForwardedEvent): void {
    if (seq !== undefined) {
      if (seq <= this.#lastSeq) return;
      this.#lastSeq = seq;
    }
    this.#note(event.type);
    const json = JSON.stringify({ jsonrpc: '2.0', method: 'session.event', params: { sessionId, event } });
    this.client.send({ json, byteLength: Buffer.byteLength(json) });
  }

  #note(type: string): void {
    if (type === 'session.idle') this.#isBusy = false;
    else if (type === 'user.message' || type === 'assistant.turn_start') this.#isBusy = true;
  }
}

/** An event that is no part of the log; that a session has become idle is sent anew to a client that has not received it. */
function ephemeral(type: string, data: object) {
  return {
    id: randomUUID(),
    timestamp: new Date().toISOString(),
    parentId: null,
    ephemeral: true,
    type,
    data,
  };
}
