import { ModelError } from './errors.js';
import type { HttpResponse } from './exchange.js';
import { parseReceived } from './json.js';
import type { ModelEvent } from './model.js';
import { SseReader } from './sse.js';
import type { AnswerDecoder, Wire } from './wire.js';

/** Reads a successful answer, streamed or whole as the service chose, whatever was asked for. */
export class AnswerReader {
  readonly #wire: Wire;
  readonly #maxBytes: number;
  /** What the service calls its answer. */
  readonly #label: string;
  #stream: Stream | undefined;
  #held: Uint8Array[] = [];
  #size = 0;

  constructor(wire: Wire, { status, headers }: HttpResponse, maxBytes: number) {
    this.#wire = wire;
    this.#maxBytes = maxBytes;
    this.#label = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
    if (status === 101) this.#stream = { frames: messages, decoder: wire.decode() };
    else if (this.#label === 'text/event-stream') this.#stream = this.#events();
  }

  /** The service has said its last word. */
  get isOver(): boolean {
    return this.#stream?.decoder.isOver === true;
  }

  /** The events in these bytes. */
  push(bytes: Uint8Array): readonly ModelEvent[] {
    this.#size += bytes.byteLength;
    if (this.#size > this.#maxBytes) throw tooLong(this.#maxBytes);
    if (!this.#stream) return this.#hold(bytes);
    const { frames, decoder } = this.#stream;
    return decoder.take(frames.push(bytes));
  }

  /** What is left to emit when no more comes. */
  end(): readonly ModelEvent[] {
    if (!this.#stream) return this.#wire.decodeWhole(parseWhole(this.#whole()));
    const { frames, decoder } = this.#stream;
    const last = decoder.take(frames.end());
    return [...last, ...decoder.end()];
  }

  /** An event stream may come without its label; what is neither that nor JSON is not read to its end. */
  #hold(bytes: Uint8Array): readonly ModelEvent[] {
    if (this.#size > maxWholeBytes) throw tooLong(maxWholeBytes);
    const isBeginning = this.#size - bytes.byteLength < longestBeginning;
    this.#held.push(bytes);
    if (!isBeginning) return [];
    const held = joined(this.#held);
    const start = textOf([held.subarray(0, longestBeginning)]).trimStart();
    if (fieldOfStream.test(start)) {
      this.#held = [];
      this.#stream = this.#events();
      return this.#stream.decoder.take(this.#stream.frames.push(held));
    }
    if (start.length > longestField && !start.startsWith('{')) throw strange(this.#label);
    return [];
  }

  #events(): Stream {
    return { frames: new SseReader(), decoder: this.#wire.decode() };
  }

  /** The label is believed only as far as the first bytes bear it out. */
  #whole(): string {
    const text = textOf(this.#held);
    const start = text.trimStart();
    if (start === '') throw new ModelError('bad_response', 'The model service sent an empty answer');
    if (!start.startsWith('{')) throw strange(this.#label);
    return text;
  }
}

/** An answer that comes frame by frame. */
interface Stream {
  readonly frames: Pick<SseReader, 'push' | 'end'>;
  readonly decoder: AnswerDecoder;
}

/** Of a WebSocket each piece of the body is a message, and a message is a frame. */
const messages: Stream['frames'] = { push: (message) => [textOf([message])], end: () => [] };

/** What is not streamed is parsed at once, and more would hold up everybody else. */
const maxWholeBytes = 6 * 1024 * 1024;

/** All of a body as text. Beyond `maxBytes` it is cut if the beginning is enough, and refused if not. */
export async function readText(
  body: AsyncIterable<Uint8Array>,
  { maxBytes, cut = false }: { readonly maxBytes: number; readonly cut?: boolean },
): Promise<string> {
  const text = new TextDecoder();
  let read = '';
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes && !cut) throw tooLong(maxBytes);
    read += text.decode(chunk, { stream: true });
    if (size > maxBytes) break;
  }
  return read + text.decode();
}

/** A body that has to be JSON. */
export function parseWhole(text: string): unknown {
  try {
    return parseReceived(text);
  } catch {
    throw new ModelError('bad_response', 'The model service sent an answer that is not JSON');
  }
}

/** Blank space in front of an answer is not longer. */
const longestBeginning = 1024;

const longestField = 'event:'.length;

const fieldOfStream = /^(data|event|id|retry|):/;

function textOf(chunks: readonly Uint8Array[]): string {
  return new TextDecoder().decode(joined(chunks));
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const [first] = chunks;
  return first && chunks.length === 1 ? first : Buffer.concat(chunks);
}

function strange(type: string): ModelError {
  const label = type === '' ? 'something unlabelled' : type;
  return new ModelError(
    'bad_response',
    `The model service sent ${label} where JSON or an event stream was expected`,
  );
}

function tooLong(maxBytes: number): ModelError {
  return new ModelError('bad_response', `The model service sent more than ${maxBytes} bytes`);
}
