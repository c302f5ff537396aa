import type { Readable, Writable } from 'node:stream';
import { BodyReader } from '../frames.js';

const eventMark = Buffer.from('"method":"session.event"');
const deltaMark = Buffer.from('"assistant.message_delta"');
const idleMark = Buffer.from('"session.idle"');
const methodMark = Buffer.from('"method":');

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A client that looks no closer than it must: what it would cost to read every event is not the runtime's. */
export class LightClient {
  deltas = 0;
  private readonly waiting = new Map<number, (reply: Reply) => void>();
  private readonly idle = new Map<string, () => void>();
  private readonly bodies = new BodyReader((body) => this.take(body));
  private lastId = 0;

  constructor(
    input: Readable,
    private readonly output: Writable,
  ) {
    input.on('data', (chunk: Buffer) => this.bodies.read(chunk));
  }

  async request(method: string, params: object): Promise<unknown> {
    this.lastId += 1;
    const id = this.lastId;
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const replied = new Promise<Reply>((resolve) => this.waiting.set(id, resolve));
    this.output.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const { result, error } = await replied;
    if (error) throw new Error(error.message);
    return result;
  }

  /** Resolves when this session is idle next. */
  nextIdle(sessionId: string): Promise<void> {
    return new Promise((resolve) => this.idle.set(sessionId, resolve));
  }

  private take(body: Buffer): void {
    if (body.includes(deltaMark)) this.deltas += 1;
    else if (body.includes(idleMark)) this.receiveIdle(body);
    else if (!body.includes(methodMark)) this.receiveReply(body);
  }

  private receiveIdle(body: Buffer): void {
    if (!body.includes(eventMark)) return;
    const { params } = JSON.parse(body.toString()) as { params: { sessionId: string } };
    this.idle.get(params.sessionId)?.();
    this.idle.delete(params.sessionId);
  }

  private receiveReply(body: Buffer): void {
    const reply = JSON.parse(body.toString()) as Reply;
    this.waiting.get(reply.id)?.(reply);
    this.waiting.delete(reply.id);
  }
}
