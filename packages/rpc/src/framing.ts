import { FramingError } from './errors.js';
import type { Encoded, Message } from './message.js';
import { beginningBytes } from './oversized.js';
import { parseMessage } from './parse.js';

/** One frame as text: exactly one header, spelled so, for some peers compare it letter by letter. */
export function frame(encoded: Encoded): string {
  return frameHead(encoded) + encoded.json;
}

/** What stands before the body. */
export function frameHead({ byteLength }: Encoded): string {
  return `Content-Length: ${byteLength}\r\n\r\n`;
}

/** No message is longer unless a channel sets another bound. */
export const defaultBodyBytes = 256 * 1024 * 1024;

/** What a FrameReader takes from a peer before it refuses. */
export interface FrameLimits {
  /** A longer body is refused by its header, before any of it is kept, and ends the stream; 256 MiB by default. */
  readonly maxBodyBytes?: number;
  /** A longer body is not kept either, but the stream goes on after it; as long as `maxBodyBytes` by default. */
  readonly maxKeptBytes?: number;
}

/** What becomes of frames that are not simply messages. */
export interface LargeFrames {
  /** A body that takes long to parse. */
  large(body: Buffer): void;
  /** A body that was not kept, and how it begins. */
  passedOver(beginning: string, length: number): void;
}

/** Cuts a byte stream into messages, wherever it was split on its way. */
export class FrameReader {
  private readonly maxKeptBytes: number;
  private partialHeader = nothing;
  private partialBody: PartialBody | undefined;
  /** May be changed while the stream goes on, for the bodies that follow. */
  maxBodyBytes: number;

  constructor(
    limits: FrameLimits = {},
    private readonly beyond?: LargeFrames,
  ) {
    this.maxBodyBytes = limits.maxBodyBytes ?? defaultBodyBytes;
    this.maxKeptBytes = limits.maxKeptBytes ?? Number.POSITIVE_INFINITY;
  }

  /** Hands on each message this chunk completes; throws FramingError at the first fault, and is then of no use. */
  push(chunk: Buffer, receive: (message: Message) => void): void {
    const bytes = this.partialHeader.length === 0 ? chunk : Buffer.concat([this.partialHeader, chunk]);
    this.partialHeader = nothing;
    let offset = this.partialBody === undefined ? 0 : this.continueBody(this.partialBody, bytes, receive);
    while (offset < bytes.length) {
      const header = readHeader(bytes, offset);
      if (header === undefined) {
        this.partialHeader = Buffer.from(bytes.subarray(offset));
        return;
      }
      this.refuseTooLarge(header.length);
      const end = header.end + header.length;
      if (end > bytes.length) {
        this.partialBody = new PartialBody(
          header.length,
          Math.min(header.length, this.keptBytes(header.length)),
        );
        this.partialBody.take(bytes.subarray(header.end));
        return;
      }
      receive(parseMessage(bytes.toString('utf8', header.end, end)));
      offset = end;
    }
  }

  /** Says that the stream is over; throws FramingError when that was in the middle of a frame. */
  end(): void {
    if (this.partialHeader.length === 0 && this.partialBody === undefined) return;
    throw new FramingError('truncated', 'The stream ended in the middle of a message');
  }

  private continueBody(body: PartialBody, bytes: Buffer, receive: (message: Message) => void): number {
    const taken = body.take(bytes);
    if (!body.complete) return taken;
    this.partialBody = undefined;
    if (!body.isWhole) this.beyond?.passedOver(body.kept.toString('latin1'), body.length);
    else if (this.beyond && body.length > largeBytes) this.beyond.large(body.kept);
    else receive(parseMessage(body.kept.toString('utf8')));
    return taken;
  }

  /** Of a body that is skipped only the beginning is kept: it shows which request it was. */
  private keptBytes(length: number): number {
    return length > this.maxKeptBytes ? beginningBytes : length;
  }

  private refuseTooLarge(length: number): void {
    if (length <= this.maxBodyBytes) return;
    const message = `Message too large: its header announces ${length} bytes, at most ${this.maxBodyBytes} are accepted`;
    throw new FramingError('too_large', message);
  }
}

/** A body that came in pieces: it grows by doubling, so a lie about its length costs no memory and a drip no time. */
class PartialBody {
  private bytes: Buffer;
  private filled = 0;

  /** Of so many bytes, the first `most` are kept. */
  constructor(
    readonly length: number,
    private readonly most: number,
  ) {
    this.bytes = Buffer.allocUnsafe(Math.min(most, firstBodyBytes));
  }

  get complete(): boolean {
    return this.filled === this.length;
  }

  get isWhole(): boolean {
    return this.most === this.length;
  }

  get kept(): Buffer {
    return this.bytes.subarray(0, this.most);
  }

  take(chunk: Buffer): number {
    const taken = Math.min(chunk.length, this.length - this.filled);
    const kept = Math.max(0, Math.min(taken, this.most - this.filled));
    this.reserve(Math.min(this.filled + kept, this.most));
    chunk.copy(this.bytes, this.filled, 0, kept);
    this.filled += taken;
    return taken;
  }

  private reserve(size: number): void {
    if (size <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.min(this.most, Math.max(size, this.bytes.length * 2)));
    this.bytes.copy(grown, 0, 0, this.filled);
    this.bytes = grown;
  }
}

interface Header {
  /** Bytes of the body. */
  readonly length: number;
  /** Where the body begins. */
  readonly end: number;
}

/** Undefined while the header block is not whole. */
function readHeader(bytes: Buffer, start: number): Header | undefined {
  const blank = bytes.indexOf('\r\n\r\n', start, 'latin1');
  const size = (blank === -1 ? bytes.length : blank) - start;
  if (size > maxHeaderBytes) throw badHeader(`it is longer than ${maxHeaderBytes} bytes`);
  if (!isLetter(bytes[start])) throw badHeader('it does not begin with a header name');
  if (blank === -1) {
    if (bareLineFeed.test(bytes.toString('latin1', start))) throw badHeader('a line ends in LF without CR');
    return undefined;
  }
  return { length: contentLength(bytes.toString('latin1', start, blank)), end: blank + 4 };
}

function contentLength(block: string): number {
  const [, usual] = usualHeader.exec(block) ?? [];
  if (usual !== undefined) return Number(usual);
  const values = block.split('\r\n').flatMap(lengthInLine);
  const [length] = values;
  if (length === undefined) throw badHeader('Content-Length is missing');
  if (values.some((value) => value !== length))
    throw badHeader('Content-Length is given twice with different values');
  return length;
}

function lengthInLine(line: string): number[] {
  const [, name, value] = headerLine.exec(line) ?? [];
  if (name === undefined || value === undefined) throw badHeader('a line is not of the form `Name: value`');
  if (name.toLowerCase() !== 'content-length') return [];
  if (!/^\d+$/.test(value)) throw badHeader('Content-Length is not a plain decimal number');
  return [Number(value)];
}

function badHeader(flaw: string): FramingError {
  const expected =
    'expected `Content-Length: <bytes>`, an empty line (both ended by CR LF) and that many bytes of JSON';
  return new FramingError('header', `Invalid header: ${flaw}; ${expected}`);
}

/** Every header name we know begins with one; JSON without a header is so refused at its first byte. */
function isLetter(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const upper = byte & ~0x20;
  return upper >= 0x41 && upper <= 0x5a;
}

const nothing = Buffer.alloc(0);
const maxHeaderBytes = 8 * 1024;
const firstBodyBytes = 64 * 1024;
/** What is longer takes long enough to parse that others should have their turn meanwhile. */
const largeBytes = 1024 * 1024;
const usualHeader = /^Content-Length: (\d+)$/;
const bareLineFeed = /[^\r]\n/;
const headerLine = /^([^\s:]+)[ \t]*:[ \t]*(.*?)[ \t]*$/;
