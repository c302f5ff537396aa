import { FramingError } from './errors.js';
import type { Encoded, Message } from './message.js';
import { parseMessage } from './parse.js';

/** One frame as text: exactly one header, spelled so, for some peers compare it letter by letter. */
export function frame(encoded: Encoded): string {
  return `Content-Length: ${encoded.byteLength}\r\n\r\n${encoded.json}`;
}

/** What a FrameReader takes from a peer before it refuses. */
export interface FrameLimits {
  /** A longer body is refused by its header, before any of it is kept; 256 MiB unless told otherwise. */
  readonly maxBodyBytes?: number;
}

/** Cuts a byte stream into messages, wherever it was split on its way. */
export class FrameReader {
  private readonly maxBodyBytes: number;
  private partialHeader = nothing;
  private partialBody: PartialBody | undefined;

  constructor(limits: FrameLimits = {}) {
    this.maxBodyBytes = limits.maxBodyBytes ?? 256 * 1024 * 1024;
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
        this.partialBody = new PartialBody(header.length);
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
    receive(parseMessage(body.toString()));
    return taken;
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

  constructor(private readonly length: number) {
    this.bytes = Buffer.allocUnsafe(Math.min(length, firstBodyBytes));
  }

  get complete(): boolean {
    return this.filled === this.length;
  }

  take(chunk: Buffer): number {
    const taken = Math.min(chunk.length, this.length - this.filled);
    this.reserve(this.filled + taken);
    chunk.copy(this.bytes, this.filled, 0, taken);
    this.filled += taken;
    return taken;
  }

  toString(): string {
    return this.bytes.toString('utf8', 0, this.length);
  }

  private reserve(size: number): void {
    if (size <= this.bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.min(this.length, Math.max(size, this.bytes.length * 2)));
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
const firstBodyBytes = 1024 * 1024;
const usualHeader = /^Content-Length: (\d+)$/;
const bareLineFeed = /[^\r]\n/;
const headerLine = /^([^\s:]+)[ \t]*:[ \t]*(.*?)[ \t]*$/;
