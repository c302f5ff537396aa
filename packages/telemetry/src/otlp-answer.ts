import type { IncomingMessage } from 'node:http';
import type { Rejection } from './exporter.js';

/** A longer answer than this says nothing that is looked for. */
const longestAnswer = 64 * 1024;

/** What a collector answers; empty when it is too long or breaks off, for what was sent has arrived anyway. */
export async function bodyOf(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      length += chunk.length;
      // Leaving the loop closes the connection.
      if (length > longestAnswer) return Buffer.alloc(0);
      chunks.push(chunk);
    }
  } catch {
    return Buffer.alloc(0);
  }
  return Buffer.concat(chunks);
}

/** What the receiver rejected of a request; undefined when nothing was, or when its answer cannot be read. */
export function rejectionIn(body: Buffer, isProtobuf: boolean): Rejection | undefined {
  try {
    const { count, message } = isProtobuf ? ofProtobuf(body) : ofJson(body);
    return Number.isSafeInteger(count) && count > 0 ? { count, message: message.slice(0, 200) } : undefined;
  } catch {
    return undefined;
  }
}

/** Milliseconds of `retry-after`, which has seconds or a date. */
export function pauseIn(header: string | undefined): number | undefined {
  if (header === undefined || header.trim() === '') return undefined;
  const seconds = Number(header);
  const pause = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
  return Number.isFinite(pause) ? Math.max(0, pause) : undefined;
}

interface Rejected {
  readonly count: number;
  readonly message: string;
}

function ofJson(body: Buffer): Rejected {
  const { partialSuccess } = JSON.parse(body.toString());
  const { rejectedSpans, rejectedDataPoints, errorMessage } = partialSuccess ?? {};
  return {
    count: Number(rejectedSpans ?? rejectedDataPoints ?? 0),
    message: typeof errorMessage === 'string' ? errorMessage : '',
  };
}

/** Field 1 is the partial success; its field 1 is the count and its field 2 the message. */
function ofProtobuf(body: Buffer): Rejected {
  const [partial] = fieldsOf(body).get(1) ?? [];
  const fields = Buffer.isBuffer(partial) ? fieldsOf(partial) : new Map<number, (number | Buffer)[]>();
  const [count = 0] = fields.get(1) ?? [];
  const [message = ''] = fields.get(2) ?? [];
  return { count: Number(count), message: message.toString() };
}

/** Numbers and byte strings of a message, by the number of their field. Throws for what is none. */
function fieldsOf(bytes: Buffer): Map<number, (number | Buffer)[]> {
  const fields = new Map<number, (number | Buffer)[]>();
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at++];
      if (byte === undefined || scale > Number.MAX_SAFE_INTEGER) throw new Error('no protobuf');
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const type = tag % 8;
    if (type !== 0 && type !== 2) throw new Error('no field of such an answer');
    const number = varint();
    const value = type === 0 ? number : bytes.subarray(at, at + number);
    if (type === 2) at += number;
    const key = (tag - type) / 8;
    fields.set(key, [...(fields.get(key) ?? []), value]);
  }
  return fields;
}
