import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { AnyEvent } from '@groundcrew/protocol';
import { Connection, connectTcp } from '@groundcrew/rpc';
import type { Random } from '../random.js';
import type { Node, World } from './world.js';

/** What the outside knows of one session. */
export interface Book {
  readonly sessionId: string;
  /** Prompts whose send was acknowledged. */
  readonly acknowledged: string[];
  /** Names of effects that the tool had, in order. */
  readonly effects: string[];
  /** How often an answer was accepted, by request. */
  readonly accepted: Map<string, number>;
  /** Ids of durable events as they came, a run for each time a client was attached. */
  readonly received: string[][];
  readonly problems: string[];
  /** What the clients received, and when; shown where something is wrong. */
  readonly diary: string[];
}

const tool = {
  name: 'effect',
  description: 'Has an effect',
  parameters: { type: 'object' },
  skipPermission: true,
};

/** One client of a session that connects to any node, and to another one when its node is gone. */
export class Player {
  private connection: Connection | undefined;
  private run: string[] = [];
  private readonly handled = new Set<string>();
  private waiting: (() => void)[] = [];
  private isOver = false;
  /** Prompts that were answered. */
  readonly answered = new Set<string>();

  private readonly world: World;
  private readonly random: Random;
  private readonly book: Book;
  private readonly servesTool: boolean;

  constructor(parts: {
    readonly world: World;
    readonly random: Random;
    readonly book: Book;
    readonly servesTool: boolean;
  }) {
    this.world = parts.world;
    this.random = parts.random;
    this.book = parts.book;
    this.servesTool = parts.servesTool;
  }

  /** Opens the session at some node, again and again. */
  async open(): Promise<void> {
    const deadline = performance.now() + 90_000;
    while (!this.isOver) {
      try {
        await this.openAt(this.pick());
        return;
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await pause(100);
      }
    }
  }

  /** Leaves its node without a word, and comes to another one. */
  async hop(): Promise<void> {
    const { connection } = this;
    this.connection = undefined;
    await connection?.close();
    await this.open();
  }

  /** Sends a prompt until it is acknowledged, by one id. */
  async send(prompt: string): Promise<void> {
    const messageId = randomUUID();
    const deadline = performance.now() + 90_000;
    for (;;) {
      try {
        await this.call('session.send', { prompt, messageId });
        this.book.acknowledged.push(messageId);
        return;
      } catch (error) {
        this.write(`send ${prompt}: ${String(error)}`);
        if (performance.now() > deadline) {
          this.book.problems.push(`send ${prompt}: ${String(error)}`);
          return;
        }
        await pause(100);
      }
    }
  }

  /** Resolves when the answer to a prompt has come. */
  async until(name: string): Promise<void> {
    const deadline = performance.now() + 60_000;
    while (!this.answered.has(name)) {
      if (performance.now() > deadline) {
        this.book.problems.push(`no answer to ${name}`);
        return;
      }
      await Promise.race([new Promise<void>((resolve) => this.waiting.push(resolve)), pause(500)]);
    }
  }

  async stored(): Promise<readonly AnyEvent[]> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        const { events } = (await this.call('session.getMessages', {})) as { events: readonly AnyEvent[] };
        return events;
      } catch (error) {
        if (attempt > 100) throw error;
        await pause(100);
      }
    }
  }

  async close(): Promise<void> {
    this.isOver = true;
    await this.connection?.close();
  }

  private pick(): Node {
    const up = this.world.nodes.filter(({ isUp }) => isUp);
    const node = up[this.random.upTo(up.length) - 1];
    if (!node) throw new Error('No node is up');
    return node;
  }

  private async openAt(node: Node): Promise<void> {
    const channel = await connectTcp(
      { host: node.host, port: await node.process.port() },
      AbortSignal.timeout(3_000),
    );
    const run: string[] = [];
    const connection = new Connection(channel, {
      onRequest: async (method) => Promise.reject(new Error(`Unhandled method ${method}`)),
      onNotification: (method, params) => this.receive(method, params, run),
    });
    this.write(`opens it at ${node.process.pid}`);
    const isNew = this.servesTool && this.book.received.length === 0;
    const params = {
      sessionId: this.book.sessionId,
      ...this.world.model.settings,
      ...(isNew ? {} : { continuePendingWork: true, disableResume: true }),
      ...(this.servesTool && { tools: [tool] }),
    };
    const method = isNew ? 'session.create' : 'session.resume';
    this.book.received.push(run);
    this.run = run;
    try {
      await connection.request(method, params, AbortSignal.timeout(30_000));
    } catch (error) {
      await connection.close();
      throw error;
    }
    this.connection = connection;
    void connection.closed.then(() => {
      if (this.connection !== connection || this.isOver) return;
      this.connection = undefined;
      void this.open().catch((error: unknown) => this.book.problems.push(String(error)));
    });
    void this.lookAround();
  }

  private async call(method: string, params: object): Promise<unknown> {
    const { connection } = this;
    if (!connection) throw new Error('not connected');
    return connection.request(
      method,
      { sessionId: this.book.sessionId, ...params },
      AbortSignal.timeout(75_000),
    );
  }

  /** What happened, and was asked, while this client was away. */
  private async lookAround(): Promise<void> {
    for (const event of await this.stored().catch(() => [])) this.note(event);
  }

  private receive(method: string, params: unknown, run: string[]): void {
    if (method !== 'session.event') return;
    const { event } = params as { readonly event: AnyEvent };
    if (event.type === 'session.error' || event.type === 'session.idle')
      this.write(`${event.type} ${JSON.stringify(event.data)}`);
    if (!event.ephemeral) run.push(event.id);
    if (run === this.run) this.note(event);
  }

  private note({ type, data }: AnyEvent): void {
    const {
      content = '',
      requestId,
      arguments: given,
    } = data as Record<string, never> & {
      readonly content?: string;
      readonly requestId?: string;
      readonly arguments?: { readonly name?: string };
    };
    if (type === 'assistant.message' && content !== '') {
      this.answered.add(content.split(' ').at(-1) ?? '');
      for (const wake of this.waiting.splice(0)) wake();
    }
    if (type === 'external_tool.requested' && requestId !== undefined && this.servesTool)
      void this.work(requestId, given?.name ?? '');
  }

  /** The effect happens once for each request and takes its time; its answer is sent until a reply says what became of it, and once more. */
  private async work(requestId: string, name: string): Promise<void> {
    if (this.handled.has(requestId)) return;
    this.handled.add(requestId);
    this.book.effects.push(name);
    await pause(this.random.upTo(2_000));
    const answer = { requestId, result: name };
    for (let attempt = 0, replies = 0; attempt < 600 && replies < 2; attempt += 1) {
      try {
        const { success } = (await this.call('session.tools.handlePendingToolCall', answer)) as {
          success: boolean;
        };
        replies += 1;
        this.write(`answer to ${name}: ${success}`);
        if (success) this.book.accepted.set(requestId, (this.book.accepted.get(requestId) ?? 0) + 1);
      } catch (error) {
        this.write(`answer to ${name}: ${String(error)}`);
        await pause(100);
      }
    }
  }

  private write(line: string): void {
    const seconds = (performance.now() / 1000).toFixed(1);
    this.book.diary.push(`${seconds} ${this.servesTool ? 'driver' : 'watcher'} ${line}`);
  }
}
