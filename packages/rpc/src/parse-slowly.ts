import { FramingError } from './errors.js';

/** How a large message is read. */
export interface SlowOptions {
  /** Bytes of one string that are read at once; 256 KiB unless given. */
  readonly pieceBytes?: number;
  /** Objects, lists and plain values together; any number unless given. */
  readonly mostValues?: number;
}

/**
 * What JSON.parse would make of these bytes, in small steps between which others have their turn: a message of 30 MB would
 * hold them up for a tenth of a second. Throws FramingError for what is no JSON, nests too deep or has too many values.
 */
export async function parseSlowly(
  bytes: Buffer,
  maxDepth: number,
  options: SlowOptions = {},
): Promise<unknown> {
  return new SlowReader(bytes, maxDepth, options).read();
}

type Container =
  | { readonly type: 'list'; readonly value: unknown[] }
  | { readonly type: 'object'; readonly value: Record<string, unknown>; key: string };

class SlowReader {
  private readonly pieceBytes: number;
  private readonly mostValues: number;
  private readonly open: Container[] = [];
  private at = 0;
  private values = 0;
  private began = performance.now();

  constructor(
    private readonly bytes: Buffer,
    private readonly maxDepth: number,
    { pieceBytes = 256 * 1024, mostValues = Number.POSITIVE_INFINITY }: SlowOptions,
  ) {
    this.pieceBytes = pieceBytes;
    this.mostValues = mostValues;
  }

  async read(): Promise<unknown> {
    for (;;) {
      const opened = await this.begin();
      if (opened) continue;
      let value = await this.plainOrEmpty();
      for (;;) {
        const container = this.open.at(-1);
        if (container === undefined) return this.whole(value);
        put(container, value);
        if (await this.goesOn(container)) break;
        value = this.open.pop()?.value;
      }
    }
  }

  /** Enters a list or an object that is not empty. */
  private async begin(): Promise<boolean> {
    this.count();
    const first = this.next();
    if (first !== openBrace && first !== openBracket) return false;
    const after = this.peekAfter();
    if (after === closeBrace || after === closeBracket) return false;
    if (this.open.length === this.maxDepth) throw tooDeep(this.maxDepth);
    this.at += 1;
    if (first === openBracket) this.open.push({ type: 'list', value: [] });
    else this.open.push({ type: 'object', value: {}, key: await this.key() });
    return true;
  }

  private async plainOrEmpty(): Promise<unknown> {
    if (this.hasWorkedLong) await this.pause();
    switch (this.next()) {
      case quote:
        return this.string();
      case openBrace:
        return this.empty(closeBrace, {});
      case openBracket:
        return this.empty(closeBracket, []);
      default:
        return this.literal();
    }
  }

  private empty(end: number, value: unknown): unknown {
    this.at += 1;
    if (this.next() !== end) throw this.unexpected();
    this.at += 1;
    return value;
  }

  /** After a value: true when another follows, false when the container has ended. */
  private async goesOn(container: Container): Promise<boolean> {
    const mark = this.next();
    this.at += 1;
    if (mark === comma) {
      if (container.type === 'object') container.key = await this.key();
      return true;
    }
    if (mark === (container.type === 'object' ? closeBrace : closeBracket)) return false;
    this.at -= 1;
    throw this.unexpected();
  }

  private async key(): Promise<string> {
    if (this.next() !== quote) throw this.unexpected();
    const key = await this.string();
    if (this.next() !== colon) throw this.unexpected();
    this.at += 1;
    return key;
  }

  private async string(): Promise<string> {
    const start = this.at;
    const end = endOfString(this.bytes, start);
    if (end === -1) throw this.unexpected();
    this.at = end + 1;
    if (end - start <= this.pieceBytes)
      return this.parsed(this.bytes.toString('utf8', start, end + 1)) as string;
    let text = '';
    for (let from = start + 1; from < end; ) {
      const to = cutBefore(this.bytes, from, Math.min(from + this.pieceBytes, end), end);
      text += this.parsed(`"${this.bytes.toString('utf8', from, to)}"`) as string;
      from = to;
      if (this.hasWorkedLong) await this.pause();
    }
    return text;
  }

  /** A number, true, false or null. An id too large for a `number` keeps all its digits. */
  private literal(): unknown {
    const start = this.at;
    while (this.at < this.bytes.length && isLiteral(this.bytes[this.at] ?? 0)) this.at += 1;
    const text = this.bytes.toString('latin1', start, this.at);
    const value = this.parsed(text);
    const [top] = this.open;
    const isId = this.open.length === 1 && top?.type === 'object' && top.key === 'id';
    return isId && /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value;
  }

  private parsed(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch {
      throw this.unexpected();
    }
  }

  private whole(value: unknown): unknown {
    if (this.next() !== undefined) throw this.unexpected();
    return value;
  }

  /** The next byte that is no blank. */
  private next(): number | undefined {
    while (isBlank(this.bytes[this.at])) this.at += 1;
    return this.bytes[this.at];
  }

  private peekAfter(): number | undefined {
    let at = this.at + 1;
    while (isBlank(this.bytes[at])) at += 1;
    return this.bytes[at];
  }

  private count(): void {
    this.values += 1;
    if (this.values <= this.mostValues) return;
    throw new FramingError('too_large', `Message too large: it has more than ${this.mostValues} values`);
  }

  private get hasWorkedLong(): boolean {
    return performance.now() - this.began > sliceMilliseconds;
  }

  private async pause(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.began = performance.now();
  }

  private unexpected(): FramingError {
    const what = this.at < this.bytes.length ? `unexpected byte at ${this.at}` : 'unexpected end';
    return new FramingError('json', `Parse error: ${what} in a message of ${this.bytes.length} bytes`);
  }
}

/** The refusal of a message that nests too deep. */
export function tooDeep(maxDepth: number): FramingError {
  return new FramingError('too_deep', `Parse error: the message nests deeper than ${maxDepth} levels`);
}

function put(container: Container, value: unknown): void {
  if (container.type === 'list') container.value.push(value);
  else if (container.key !== '__proto__') container.value[container.key] = value;
  else
    Object.defineProperty(container.value, '__proto__', {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

function endOfString(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start + 1);
  while (end !== -1 && isEscaped(bytes, end, start)) end = bytes.indexOf(quote, end + 1);
  return end;
}

function isEscaped(bytes: Buffer, index: number, start: number): boolean {
  let first = index;
  while (first - 1 > start && bytes[first - 1] === backslash) first -= 1;
  return (index - first) % 2 === 1;
}

/** The last place up to `to` that lies neither inside a character nor inside an escape. */
function cutBefore(bytes: Buffer, from: number, to: number, end: number): number {
  if (to === end) return end;
  let cut = to;
  while (cut > from + 1 && ((bytes[cut] ?? 0) & 0xc0) === 0x80) cut -= 1;
  for (let back = 1; back <= 5 && cut - back > from; back += 1) {
    const isBegun = bytes[cut - back] === backslash && !isEscaped(bytes, cut - back, from - 1);
    if (isBegun && (back === 1 || bytes[cut - back + 1] === letterU)) return cut - back;
  }
  return cut;
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** What numbers and the three words are made of. */
function isLiteral(byte: number): boolean {
  return (
    (byte >= 0x61 && byte <= 0x7a) ||
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2b ||
    byte === 0x2d ||
    byte === 0x2e ||
    byte === 0x45
  );
}

const sliceMilliseconds = 6;
const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const letterU = 0x75;
const openBrace = 0x7b;
const closeBrace = 0x7d;
