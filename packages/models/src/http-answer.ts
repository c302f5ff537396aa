import { ModelError } from './errors.js';
import type { HttpResponse } from './exchange.js';
import type { ModelEvent } from './model.js';
import { sseFrames } from './sse.js';
import type { Wire } from './wire.js';

/** A successful answer, streamed or whole as the service chose, whatever was asked for. */
export async function* readAnswer(
  wire: Wire,
  response: HttpResponse,
  maxBytes: number,
): AsyncGenerator<readonly ModelEvent[]> {
  const type = response.headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (response.status === 101) return yield* wire.decode(messageFrames(bounded(response.body, maxBytes)));
  if (type === 'text/event-stream') return yield* wire.decode(sseFrames(bounded(response.body, maxBytes)));
  const body = response.body[Symbol.asyncIterator]();
  try {
    const read = await readUnlessStream(body, maxBytes);
    if (read.isStream) yield* wire.decode(sseFrames(bounded(joined(read.chunks, body), maxBytes)));
    else yield wire.decodeWhole(parseWhole(wholeOf(read.chunks, type)));
  } finally {
    await body.return?.();
  }
}

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
    return JSON.parse(text);
  } catch {
    throw new ModelError('bad_response', 'The model service sent an answer that is not JSON');
  }
}

/** A piece of a body that is a message is a frame. */
async function* messageFrames(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  for await (const message of bytes) yield [Buffer.from(message).toString('utf8')];
}

async function* bounded(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLong(maxBytes);
    yield chunk;
  }
}

/** All of a body; only the beginning of what is no JSON, an event stream without its label perhaps. */
async function readUnlessStream(
  body: AsyncIterator<Uint8Array>,
  maxBytes: number,
): Promise<{ readonly chunks: readonly Uint8Array[]; readonly isStream: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await body.next(); !next.done; next = await body.next()) {
    const isBeginning = size < longestBeginning;
    chunks.push(next.value);
    size += next.value.byteLength;
    if (size > maxBytes) throw tooLong(maxBytes);
    const start = isBeginning ? textOf(chunks).trimStart() : '{';
    if (fieldOfStream.test(start)) return { chunks, isStream: true };
    if (start.length > longestField && !start.startsWith('{')) break;
  }
  return { chunks, isStream: false };
}

/** Blank space in front of an answer is not longer. */
const longestBeginning = 1024;

const longestField = 'event:'.length;

const fieldOfStream = /^(data|event|id|retry|):/;

/** The label is believed only as far as the first bytes bear it out. */
function wholeOf(chunks: readonly Uint8Array[], type: string): string {
  const text = textOf(chunks);
  const start = text.trimStart();
  if (start === '') throw new ModelError('bad_response', 'The model service sent an empty answer');
  if (!start.startsWith('{')) throw strange(type);
  return text;
}

function textOf(chunks: readonly Uint8Array[]): string {
  return new TextDecoder().decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
}

async function* joined(
  first: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
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
