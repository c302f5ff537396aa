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
  const bytes = bounded(response.body, maxBytes);
  if (type === 'text/event-stream') return yield* wire.decode(sseFrames(bytes));
  // Any other label is believed only as far as the first bytes bear it out.
  try {
    const { start, whole } = await peek(bytes);
    if (/^(data|event|id|retry|):/.test(start)) return yield* wire.decode(sseFrames(whole));
    if (start === '') throw new ModelError('bad_response', 'The model service sent an empty answer');
    if (!start.startsWith('{')) throw strange(type);
    yield wire.decodeWhole(parseWhole(await readText(whole, { maxBytes })));
  } finally {
    await bytes.return(undefined);
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

async function* bounded(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLong(maxBytes);
    yield chunk;
  }
}

/** Reads until the first bytes tell what follows, and gives them back in front of the rest. */
async function peek(
  bytes: AsyncGenerator<Uint8Array>,
): Promise<{ readonly start: string; readonly whole: AsyncIterable<Uint8Array> }> {
  const read: Uint8Array[] = [];
  let start = '';
  while (start.length < 'event:'.length) {
    const next = await bytes.next();
    if (next.done) break;
    read.push(next.value);
    start = Buffer.concat(read).toString('utf8').trimStart();
  }
  return { start, whole: joined(read, bytes) };
}

async function* joined(
  first: readonly Uint8Array[],
  rest: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* first;
  yield* rest;
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
