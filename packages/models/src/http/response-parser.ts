import { ModelError } from '../errors.js';

/** How an answer begins. */
export interface ResponseHead {
  readonly status: number;
  /** Names in lower case; what came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Hears of an answer as it comes in. */
export interface ResponseListener {
  onHead(head: ResponseHead): void;
  onData(bytes: Buffer): void;
  onEnd(): void;
}

type Step = 'head' | 'sized' | 'until close' | 'chunk size' | 'chunk' | 'chunk end' | 'trailers' | 'over';

/** Reads one answer of HTTP/1.1 (RFC 9112), cut into reads anywhere. Throws ModelError at what is none. */
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
    let rest = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes]);
    this.#partial = nothing;
    while (rest.length > 0) {
      if (this.#step === 'over') {
        // Nobody asked for more.
        this.#mayStay = false;
        return;
      }
      const taken = this.#take(rest);
      if (taken === 0) {
        this.#hold(rest);
        return;
      }
      rest = rest.subarray(taken);
    }
  }

  /** The service sends no more; throws when that was too early. */
  close(): void {
    if (this.#step === 'until close') this.#end();
    else if (this.#step !== 'over') throw cutShort();
  }

  /** How much of this belongs to the present step; 0: what there is of it does not suffice. */
  #take(bytes: Buffer): number {
    switch (this.#step) {
      case 'head':
        return this.#takeHead(bytes);
      case 'sized':
      case 'chunk':
        return this.#takeSized(bytes);
      case 'until close':
        this.#listener.onData(bytes);
        return bytes.length;
      default:
        return this.#takeLine(bytes);
    }
  }

  #takeHead(bytes: Buffer): number {
    const end = endOfHead(bytes);
    if (end === 0) return 0;
    const head = readHead(bytes.toString('latin1', 0, end));
    // Word that the service is at work; its answer is still to come.
    if (head.status < 200) return end;
    this.#frame(head);
    this.#listener.onHead(head);
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
      // Two statements of the length that may differ: whoever is in between might believe the other one.
      if (length !== undefined) this.#mayStay = false;
    } else if (length !== undefined) {
      this.#step = 'sized';
      this.#left = sizeOf(length);
    } else this.#step = 'until close';
    if (this.#step === 'until close') this.#mayStay = false;
  }

  #takeSized(bytes: Buffer): number {
    const taken = Math.min(this.#left, bytes.length);
    this.#left -= taken;
    this.#listener.onData(taken === bytes.length ? bytes : bytes.subarray(0, taken));
    if (this.#left > 0) return taken;
    if (this.#step === 'sized') this.#end();
    else this.#step = 'chunk end';
    return taken;
  }

  #takeLine(bytes: Buffer): number {
    const end = bytes.indexOf(lineFeed) + 1;
    if (end === 0) return 0;
    const line = bytes.toString('latin1', 0, end).trimEnd();
    if (this.#step === 'chunk size') this.#beginChunk(line);
    else if (this.#step === 'chunk end') this.#endChunk(line);
    else if (line === '') this.#end();
    return end;
  }

  #beginChunk(line: string): void {
    const [, digits] = chunkSize.exec(line) ?? [];
    if (digits === undefined) throw malformed('a chunk of it has no size');
    this.#left = Number.parseInt(digits, 16);
    this.#step = this.#left === 0 ? 'trailers' : 'chunk';
  }

  #endChunk(line: string): void {
    if (line !== '') throw malformed('a chunk of it is longer than it says');
    this.#step = 'chunk size';
  }

  #hold(bytes: Buffer): void {
    if (bytes.length > longestHead) throw malformed(`its head is longer than ${longestHead} bytes`);
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
const longestHead = 64 * 1024;
const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: |$)/;
const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
const chunkSize = /^([0-9a-f]{1,12})[ \t]*(?:;|$)/i;

/** One past the empty line; 0 when it has not come yet. */
function endOfHead(bytes: Buffer): number {
  const blank = bytes.indexOf('\r\n\r\n', 0, 'latin1');
  if (blank >= 0) return blank + 4;
  const bare = bytes.indexOf('\n\n', 0, 'latin1');
  return bare >= 0 ? bare + 2 : 0;
}

function readHead(text: string): ParsedHead {
  const [first = '', ...lines] = text.trimEnd().split(/\r?\n/);
  const [, version, status] = statusLine.exec(first) ?? [];
  if (version === undefined) throw malformed('it does not begin with an HTTP status');
  const headers: Record<string, string> = Object.create(null);
  for (const line of unfolded(lines)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, Math.max(0, colon));
    if (!headerName.test(name)) throw malformed('a line of its head is not of the form `Name: value`');
    const key = name.toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return { status: Number(status), headers, version };
}

/** A line that begins with a blank goes on with the one before it. */
function unfolded(lines: readonly string[]): readonly string[] {
  if (!lines.some((line) => /^[ \t]/.test(line))) return lines;
  return lines
    .join('\n')
    .replace(/\n[ \t]+/g, ' ')
    .split('\n');
}

function staysOpen(connection = '', version: string): boolean {
  const words = connection.toLowerCase().split(/[ \t]*,[ \t]*/);
  return version === '1' ? !words.includes('close') : words.includes('keep-alive');
}

/** The same length said twice is said once. */
function sizeOf(text: string): number {
  const [size = '', ...others] = text.split(/[ \t]*,[ \t]*/);
  if (!/^\d{1,15}$/.test(size) || others.some((other) => other !== size))
    throw malformed('its length is not a number');
  return Number(size);
}

function malformed(flaw: string): ModelError {
  return new ModelError('bad_response', `The model service sent an answer that is not HTTP: ${flaw}`);
}

function cutShort(): Error {
  return new Error('The connection was closed before the answer was complete');
}
