import { HttpError } from './errors.js';

/** How an answer begins. */
export interface ResponseHead {
  readonly status: number;
  /** Names in lower case; what came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Learns of an answer as it comes in. */
export interface ResponseListener {
  onHead(head: ResponseHead): void;
  onData(bytes: Buffer): void;
  onEnd(): void;
}

type Step = 'head' | 'sized' | 'until close' | 'chunk size' | 'chunk' | 'chunk end' | 'trailers' | 'over';

/** Reads one answer of HTTP/1.1 (RFC 9112), cut into reads anywhere. Throws HttpError at what is none. */
export class ResponseParser {
  readonly #listener: ResponseListener;
  #step: Step = 'head';
  /** A line or a head that has not come whole yet. */
  #partial = nothing;
  /** Bytes to come of the body, or of the chunk. */
  #left = 0;
  #mayStay = false;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  /** True when the answer is whole and the connection may carry another one. */
  get mayGoOn(): boolean {
    return this.#step === 'over' && this.#mayStay;
  }

  push(bytes: Buffer): void {
    const all = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes]);
    this.#partial = nothing;
    let at = 0;
    while (at < all.length) {
      if (this.#step === 'over') {
        // No more was requested.
        this.#mayStay = false;
        return;
      }
      const end = this.#take(all, at);
      if (end === at) {
        this.#hold(all.subarray(at));
        return;
      }
      at = end;
    }
  }

  /** The service sends no more; throws when that was too early. */
  close(): void {
    if (this.#step === 'until close') this.#end();
    else if (this.#step !== 'over') throw cutShort();
  }

  /** Where the present step ends, of what is there from `at`; `at` itself when it does not suffice. */
  #take(bytes: Buffer, at: number): number {
    switch (this.#step) {
      case 'head':
        return this.#takeHead(bytes, at);
      case 'sized':
      case 'chunk':
        return this.#takeSized(bytes, at);
      case 'until close':
        this.#listener.onData(bytes.subarray(at));
        return bytes.length;
      case 'chunk size':
        return this.#takeChunks(bytes, at) || this.#takeLine(bytes, at);
      default:
        return this.#takeLine(bytes, at);
    }
  }

  /** Whole chunks one after the other, of which a stream has thousands: their data is moved together and passed on at once. */
  #takeChunks(bytes: Buffer, at: number): number {
    let next = at;
    let start = 0;
    let end = 0;
    for (;;) {
      const feed = endOfLine(bytes, next);
      if (feed === bytes.length) break;
      const size = readSize(bytes, next);
      const after = feed + 1 + size;
      if (size === 0 || bytes[after] !== carriageReturn || bytes[after + 1] !== lineFeed) break;
      if (end === 0) start = end = feed + 1;
      else bytes.copyWithin(end, feed + 1, after);
      end += size;
      next = after + 2;
    }
    if (end > start) this.#listener.onData(bytes.subarray(start, end));
    return next === at ? 0 : next;
  }

  #takeHead(bytes: Buffer, at: number): number {
    const end = endOfHead(bytes, at);
    if (end === at) return at;
    const head = readHead(bytes.toString('latin1', at, end));
    // Word that the service is at work; its answer is still to come.
    if (head.status < 200) return end;
    this.#frame(head);
    this.#listener.onHead({ status: head.status, headers: head.headers });
    if (this.#step === 'sized' && this.#left === 0) this.#end();
    return end;
  }

  /** Where the body ends, as its head says. */
  #frame({ status, headers, version }: ParsedHead): void {
    const coding = headers['transfer-encoding']?.toLowerCase();
    const length = headers['content-length'];
    this.#mayStay = staysOpen(headers.connection, version);
    if (status === 204 || status === 304) this.#step = 'sized';
    else if (coding !== undefined) {
      const isChunked = /(^|,)[ \t]*chunked$/.test(coding);
      this.#step = isChunked ? 'chunk size' : 'until close';
      // Two lengths that may differ: a proxy in between might believe the other one.
      if (length !== undefined) this.#mayStay = false;
    } else if (length !== undefined) {
      this.#step = 'sized';
      this.#left = sizeOf(length);
    } else this.#step = 'until close';
    if (this.#step === 'until close') this.#mayStay = false;
  }

  #takeSized(bytes: Buffer, at: number): number {
    const end = Math.min(at + this.#left, bytes.length);
    this.#left -= end - at;
    this.#listener.onData(bytes.subarray(at, end));
    if (this.#left > 0) return end;
    if (this.#step === 'sized') this.#end();
    else this.#step = 'chunk end';
    return end;
  }

  #takeLine(bytes: Buffer, at: number): number {
    const feed = endOfLine(bytes, at);
    if (feed === bytes.length) return at;
    const isEmpty = feed === at || (feed === at + 1 && bytes[at] === carriageReturn);
    if (this.#step === 'chunk size') this.#beginChunk(readSize(bytes, at));
    else if (this.#step === 'trailers') {
      if (isEmpty) this.#end();
    } else if (isEmpty) this.#step = 'chunk size';
    else throw malformed('a chunk of it is longer than it says');
    return feed + 1;
  }

  #beginChunk(size: number): void {
    this.#left = size;
    this.#step = size === 0 ? 'trailers' : 'chunk';
  }

  #hold(bytes: Buffer): void {
    if (bytes.length > longestHead) throw malformed(`its head is longer than ${longestHead} bytes`);
    if (this.#step === 'head' && !isBeginning(bytes)) throw noStatus();
    // A copy: what is held must not keep all of a large read alive.
    this.#partial = Buffer.from(bytes);
  }

  #end(): void {
    this.#step = 'over';
    this.#listener.onEnd();
  }
}

interface ParsedHead extends ResponseHead {
  readonly version: string;
}

const nothing = Buffer.alloc(0);
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const longestHead = 64 * 1024;
const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: |$)/;
const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
/** Blank, semicolon, end of the line. */
const afterSize: ReadonlySet<number> = new Set([0x20, 0x09, 0x3b, 0x0d, 0x0a]);

/** One past the empty line; `at` when it has not come yet. */
function endOfHead(bytes: Buffer, at: number): number {
  const blank = bytes.indexOf('\r\n\r\n', at, 'latin1');
  if (blank >= 0) return blank + 4;
  const bare = bytes.indexOf('\n\n', at, 'latin1');
  return bare >= 0 ? bare + 2 : at;
}

/** Byte by byte: lines between chunks are short, and there may be thousands. */
function endOfLine(bytes: Buffer, at: number): number {
  let index = at;
  while (index < bytes.length && bytes[index] !== lineFeed) index += 1;
  return index;
}

/** The size a chunk begins with; what comes after it on its line is ignored. */
function readSize(bytes: Buffer, at: number): number {
  let size = 0;
  let index = at;
  for (let digit = hexDigit(bytes[index]); digit >= 0; digit = hexDigit(bytes[index])) {
    size = size * 16 + digit;
    index += 1;
  }
  const isEnded = afterSize.has(bytes[index] ?? lineFeed);
  if (index === at || !isEnded || size > Number.MAX_SAFE_INTEGER)
    throw malformed('a chunk of it has no size');
  return size;
}

function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1;
}

function readHead(text: string): ParsedHead {
  const [first = '', ...lines] = text.trimEnd().split('\n');
  const [, version, status] = statusLine.exec(first.trimEnd()) ?? [];
  if (version === undefined) throw noStatus();
  const headers: Record<string, string> = Object.create(null);
  let key = '';
  for (const line of lines) {
    const isFolded = line.startsWith(' ') || line.startsWith('\t');
    const colon = isFolded ? -1 : line.indexOf(':');
    if (!isFolded) key = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (!headerName.test(key)) throw malformed('a line of its head is not of the form `Name: value`');
    const value = line.slice(colon + 1).trim();
    const before = headers[key];
    if (before === undefined) headers[key] = value;
    // A line that begins with a blank goes on with the one before it.
    else headers[key] = isFolded ? `${before} ${value}` : `${before}, ${value}`;
  }
  return { status: Number(status), headers, version };
}

function staysOpen(connection = '', version: string): boolean {
  const words = connection.toLowerCase().split(/[ \t]*,[ \t]*/);
  return version === '1' ? !words.includes('close') : words.includes('keep-alive');
}

/** Repeated equal values of Content-Length count as one (RFC 9110, 8.6). */
function sizeOf(text: string): number {
  const [size = '', ...others] = text.split(/[ \t]*,[ \t]*/);
  if (!/^\d{1,15}$/.test(size) || others.some((other) => other !== size))
    throw malformed('its length is not a number');
  return Number(size);
}

/** A server that speaks another protocol is recognised by its first bytes, not by waiting for the end of a head. */
function isBeginning(bytes: Buffer): boolean {
  return 'HTTP/1.'.startsWith(bytes.toString('latin1', 0, 7));
}

function noStatus(): HttpError {
  return malformed('it does not begin with an HTTP status');
}

function malformed(flaw: string): HttpError {
  return new HttpError('bad_response', `The model service sent an answer that is not HTTP: ${flaw}`);
}

function cutShort(): Error {
  return new Error('The connection was closed before the answer was complete');
}
