import { randomBytes } from 'node:crypto';
import { ModelError } from './errors.js';

/** What came over a WebSocket. */
export type Received =
  | { readonly type: 'message' | 'ping'; readonly data: Buffer }
  | { readonly type: 'close'; readonly code: number | undefined };

const opcodes = { text: 0x1, close: 0x8, pong: 0xa } as const;

/** A whole frame as clients send it: masked, in one piece. */
export function clientFrame(type: keyof typeof opcodes, data: Buffer): Buffer {
  const { length } = data;
  const head = Buffer.from([0x80 | opcodes[type], 0x80 | shortLength(length), ...extendedLength(length)]);
  const mask = randomBytes(4);
  const masked = Buffer.allocUnsafe(length);
  for (let i = 0; i < length; i++) masked[i] = (data[i] ?? 0) ^ (mask[i & 3] ?? 0);
  return Buffer.concat([head, mask, masked]);
}

const maxMessageBytes = 32 * 1024 * 1024;

/** Puts messages together from the bytes of a server; throws a ModelError for bytes that are no WebSocket's. */
export class ServerFrames {
  #rest: Buffer = Buffer.alloc(0);
  #parts: Buffer[] = [];
  #size = 0;

  /** All that these bytes complete. */
  *read(bytes: Uint8Array): Generator<Received> {
    this.#rest = this.#rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#rest, bytes]);
    for (let frame = this.#take(); frame; frame = this.#take()) {
      const received = this.#received(frame);
      if (received) yield received;
    }
  }

  #take(): Frame | undefined {
    const [first, second] = this.#rest;
    if (first === undefined || second === undefined) return undefined;
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0) throw broken();
    const { start, length } = sizeOf(this.#rest, second);
    if (length > maxMessageBytes) throw tooLarge();
    if (this.#rest.length < start + length) return undefined;
    const data = this.#rest.subarray(start, start + length);
    this.#rest = this.#rest.subarray(start + length);
    return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, data };
  }

  #received({ opcode, isLast, data }: Frame): Received | undefined {
    if (opcode === 0x8) return { type: 'close', code: data.length < 2 ? undefined : data.readUInt16BE(0) };
    if (opcode === 0x9) return { type: 'ping', data };
    if (opcode === 0xa) return undefined;
    const isFirst = opcode === 0x1 || opcode === 0x2;
    if (isFirst === this.#parts.length > 0 || opcode > 0x2) throw broken();
    this.#parts.push(data);
    this.#size += data.length;
    if (this.#size > maxMessageBytes) throw tooLarge();
    if (!isLast) return undefined;
    const whole = this.#parts.length === 1 ? data : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return { type: 'message', data: whole };
  }
}

interface Frame {
  readonly opcode: number;
  readonly isLast: boolean;
  readonly data: Buffer;
}

/** Where the payload of a frame begins and how long it is; endless while its head is not there. */
function sizeOf(bytes: Buffer, second: number): { readonly start: number; readonly length: number } {
  const short = second & 0x7f;
  if (short < 126) return { start: 2, length: short };
  const start = short === 126 ? 4 : 10;
  if (bytes.length < start) return { start, length: 0 };
  return { start, length: short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2)) };
}

function shortLength(length: number): number {
  if (length < 126) return length;
  return length < 0x10000 ? 126 : 127;
}

function extendedLength(length: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(length));
  if (length < 126) return bytes.subarray(8);
  return length < 0x10000 ? bytes.subarray(6) : bytes;
}

function broken(): ModelError {
  return new ModelError('bad_response', 'The model service sent bytes that are no WebSocket frames');
}

function tooLarge(): ModelError {
  return new ModelError('bad_response', 'The model service sent a message larger than 32 MB');
}
