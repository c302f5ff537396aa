import { Backlog } from './backlog.js';
import type { Channel } from './channel.js';
import { type Encoded, type Message, toEncoded } from './message.js';
import { parseMessage } from './parse.js';
import { AsyncQueue } from './queue.js';

/** Two channels wired to each other in one process: each message arrives as the copy that JSON would make of it. */
export function channelPair(): [Channel, Channel] {
  const [left, right] = [new Pipe(), new Pipe()];
  return [new MemoryChannel(left, right), new MemoryChannel(right, left)];
}

class MemoryChannel implements Channel {
  constructor(
    private readonly incoming: Pipe,
    private readonly outgoing: Pipe,
  ) {}

  get messages(): AsyncIterable<Message> {
    return this.incoming;
  }

  get queuedBytes(): number {
    return this.outgoing.backlog.bytes;
  }

  send(message: Message | Encoded): boolean {
    return this.outgoing.send(message);
  }

  drained(): Promise<void> {
    return this.outgoing.backlog.drained();
  }

  async close(): Promise<void> {
    this.incoming.discard();
    this.outgoing.end();
  }
}

/** One direction. */
class Pipe implements AsyncIterable<Message> {
  readonly backlog = new Backlog();
  private readonly queue = new AsyncQueue<Encoded>();
  private ended = false;

  send(message: Message | Encoded): boolean {
    if (this.ended) return false;
    const encoded = toEncoded(message);
    this.queue.push(encoded);
    return this.backlog.add(encoded.byteLength);
  }

  [Symbol.asyncIterator](): AsyncIterator<Message> {
    return this.read(this.queue[Symbol.asyncIterator]());
  }

  /** The reader still gets what was sent. */
  end(): void {
    this.ended = true;
    this.backlog.end();
    this.queue.end();
  }

  discard(): void {
    this.end();
    this.queue.discard();
  }

  private async *read(queued: AsyncIterable<Encoded>): AsyncGenerator<Message> {
    try {
      for await (const encoded of queued) {
        this.backlog.remove(encoded.byteLength);
        yield parseMessage(encoded.json);
      }
    } finally {
      this.discard();
    }
  }
}
