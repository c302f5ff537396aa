import { connect, type Socket } from 'node:net';
import { BodyReader } from '../frames.js';

/** What the process of the listeners is asked to do. */
export type Order =
  | {
      readonly type: 'attach';
      readonly port: number;
      readonly clients: number;
      /** More that attach and never read. */
      readonly sleepers: number;
      readonly params: object;
    }
  | { readonly type: 'finish'; readonly lastEventId: string };

/** What it says: all are attached, or all have heard the last event. */
export type Report =
  | { readonly type: 'attached' }
  | {
      readonly type: 'finished';
      /** The ids of durable events as each listener heard them; lists that are the same are given once. */
      readonly lists: readonly (readonly string[])[];
      readonly frames: number;
      readonly bytes: number;
      /** Characters of streamed text that the listeners who add it up have heard, each. */
      readonly sums: readonly number[];
    };

/** Adding up costs time that the runtime under test needs; some do it for all. */
const adderEvery = 10;

const ephemeralMark = Buffer.from('"ephemeral":true');
const deltaMark = Buffer.from('"assistant.message_delta"');
const eventMark = Buffer.from('"session.event"');

/** One client that reads as fast as it can and looks no closer than it must. */
class Listener {
  readonly durable: string[] = [];
  frames = 0;
  bytes = 0;
  sum = 0;
  private readonly bodies = new BodyReader((body) => this.take(body));

  constructor(
    socket: Socket,
    private readonly options: { readonly addsUp: boolean; received(): void },
  ) {
    socket.on('data', (chunk: Buffer) => this.read(chunk));
  }

  private read(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.bodies.read(chunk);
    this.options.received();
  }

  private take(body: Buffer): void {
    this.frames += 1;
    if (!body.includes(eventMark)) return;
    if (!body.includes(ephemeralMark)) this.durable.push(eventIn(body).id);
    else if (this.options.addsUp && body.includes(deltaMark))
      this.sum += eventIn(body).data.deltaContent.length;
  }
}

interface Received {
  readonly id: string;
  readonly data: { readonly deltaContent: string };
}

function eventIn(body: Buffer): Received {
  return (JSON.parse(body.toString()) as { params: { event: Received } }).params.event;
}

const listeners: Listener[] = [];
let isOver = (): boolean => false;

process.on('message', (order: Order) => {
  if (order.type === 'attach') void attach(order);
  else finish(order.lastEventId);
});
process.on('disconnect', () => process.exit());

async function attach(order: Extract<Order, { type: 'attach' }>): Promise<void> {
  for (let i = 0; i < order.clients + order.sleepers; i++) {
    const socket = connect(order.port, '127.0.0.1');
    socket.on('error', () => undefined);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'session.resume', params: order.params });
    socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    await new Promise<void>((resolve) => socket.once('readable', resolve));
    if (i >= order.clients) socket.pause();
    else listeners.push(new Listener(socket, { addsUp: i % adderEvery === 0, received: () => isOver() }));
  }
  printReport({ type: 'attached' });
}

function finish(lastEventId: string): void {
  isOver = () => {
    if (!listeners.every(({ durable }) => durable.at(-1) === lastEventId)) return false;
    isOver = () => true;
    const lists = new Map(listeners.map(({ durable }) => [durable.join(), durable]));
    printReport({
      type: 'finished',
      lists: [...lists.values()],
      frames: listeners.reduce((sum, { frames }) => sum + frames, 0),
      bytes: listeners.reduce((sum, { bytes }) => sum + bytes, 0),
      sums: listeners.filter((_, index) => index % adderEvery === 0).map(({ sum }) => sum),
    });
    return true;
  };
  isOver();
}

function printReport(report: Report): void {
  process.send?.(report);
}
