import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { scriptedWireFor } from '@groundcrew/testkit';

/** What the process of the model service is asked. */
export type Order =
  | { readonly type: 'open' }
  /** Streams of so many chunks each begin when so many are wanted; until then, answers are one word and come at once. */
  | {
      readonly type: 'stream';
      readonly streams: number;
      readonly chunks: number;
      readonly chunksPerSecond: number;
    };

/** What it says: where it is, that all streams run, and that all have ended. */
export type Report =
  | { readonly type: 'opened'; readonly baseUrl: string }
  | { readonly type: 'running' }
  | { readonly type: 'ended'; readonly seconds: number };

interface Stream {
  readonly response: ServerResponse;
  readonly lines: readonly string[];
  /** When its first chunk is due, in milliseconds since all began. */
  readonly offset: number;
  sent: number;
}

/** One chunk of each stream every so many milliseconds; streams are spread over that time, as they are in life. */
class Streams {
  private readonly waiting: ServerResponse[] = [];

  constructor(private readonly order: Extract<Order, { type: 'stream' }>) {}

  add(response: ServerResponse, lines: readonly string[]): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    this.waiting.push(response);
    if (this.waiting.length === this.order.streams) this.run(lines);
  }

  private run(lines: readonly string[]): void {
    const { streams, chunksPerSecond } = this.order;
    const apart = 1000 / chunksPerSecond;
    const began = performance.now();
    const running = this.waiting.map(
      (response, index): Stream => ({ response, lines, offset: (index * apart) / streams, sent: 0 }),
    );
    printReport({ type: 'running' });
    let open = running.length;
    const timer = setInterval(() => {
      const elapsed = performance.now() - began;
      for (const stream of running) open -= send(stream, Math.floor((elapsed - stream.offset) / apart) + 1);
      if (open > 0) return;
      clearInterval(timer);
      printReport({ type: 'ended', seconds: (performance.now() - began) / 1000 });
    }, 1);
  }
}

/** Sends what is due; 1 when that was the last of it. */
function send(stream: Stream, due: number): 0 | 1 {
  const { lines, response } = stream;
  if (stream.sent >= lines.length) return 0;
  for (const last = Math.min(due, lines.length); stream.sent < last; stream.sent++)
    response.write(lines[stream.sent]);
  if (stream.sent < lines.length) return 0;
  response.end();
  return 1;
}

let streams: Streams | undefined;
let chunks: readonly string[] = ['Yes.'];

const server = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const wire = scriptedWireFor({ path: request.url ?? '', headers: request.headers });
    if (streams) return streams.add(response, wire.streamOf({ chunks }, 'm'));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(wire.streamOf({ chunks }, 'm').join(''));
  });
});

process.on('message', (order: Order) => void obey(order));
process.on('disconnect', () => process.exit());

async function obey(order: Order): Promise<void> {
  if (order.type === 'stream') {
    chunks = Array.from({ length: order.chunks }, () => 'word ');
    streams = new Streams(order);
    return;
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // a server on a port has no other kind of address
  printReport({ type: 'opened', baseUrl: `http://127.0.0.1:${port}` });
}

function printReport(report: Report): void {
  process.send?.(report);
}
