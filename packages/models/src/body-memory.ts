import { isObject } from './json.js';

/**
 * Remembers how parts of a conversation are written: the next call has the same messages and tools in front, and costs no more
 * for them. A part is known by the object it was made of, for as long as somebody holds that.
 */
export class BodyMemory {
  private readonly made = new Map<string, WeakMap<object, object>>();
  private readonly named = new Map<string, { readonly text: string; readonly part: object }>();
  /** Of parts that last, `undefined` before they were first written. */
  private readonly texts = new WeakMap<object, string | undefined>();
  private readonly readings = new Map<string, Reading>();
  private readonly lists = new Map<string, WrittenList>();

  /** What `make` made of `source` the first time. Each wire reads in ways of its own, each with a name. */
  once<S extends object, R extends object>(source: S, make: (source: S) => R, way: string): R {
    const known = this.wayNamed(way);
    const before = known.get(source);
    // Each way has one `make`, so what it made is of its type.
    if (before) return before as R;
    const made = make(source);
    known.set(source, made);
    for (const part of Array.isArray(made) ? made : [made]) this.texts.set(part, undefined);
    return made;
  }

  /** What `make` made of each; a list that goes on where the last one of its way ended is looked through from there. */
  each<S extends object, R extends object>(sources: readonly S[], make: (source: S) => R, way: string): R[] {
    const before = this.readings.get(way);
    // Each way has one `make`, so what it made is of its type.
    const known = before && goesOn(sources, before.sources) ? (before.made as readonly R[]) : [];
    const made = [...known];
    for (const source of sources.slice(known.length)) made.push(this.once(source, make, way));
    this.readings.set(way, { sources, made });
    return made;
  }

  /**
   * What `join` makes of all, one after the other: it adds to what is made, or puts another in the place of the last. A list
   * that goes on where the last one of its way ended is joined from there.
   */
  folded<S extends object, R extends object>(
    sources: readonly S[],
    join: (made: R[], source: S) => void,
    way: string,
  ): R[] {
    const before = this.readings.get(way);
    const isKnown = before !== undefined && goesOn(sources, before.sources);
    // Each way has one `join`, so what it made is of its type.
    const made = isKnown ? [...(before.made as readonly R[])] : [];
    for (const source of sources.slice(isKnown ? before.sources.length : 0)) join(made, source);
    this.readings.set(way, { sources, made });
    return made;
  }

  /** What `make` made of the same text the last time, in the way of that name. */
  onceOf<R extends object>(text: string, make: (text: string) => R, way: string): R {
    const before = this.named.get(way);
    // Each way has one `make`, so what it made is of its type.
    if (before?.text === text) return before.part as R;
    const part = make(text);
    this.named.set(way, { text, part });
    this.texts.set(part, undefined);
    return part;
  }

  /**
   * The same as `JSON.stringify` writes, in UTF-8 and in pieces: a long text would be copied and collected with every call.
   * What was written once stays as it is, whatever is written after it.
   */
  write(body: object): readonly Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let opening = '{';
    for (const [name, value] of Object.entries(body)) {
      const list = Array.isArray(value) ? this.listBytes(name, value) : undefined;
      const text = list ? '' : this.textOf(value, deepest);
      if (text === undefined) continue;
      opening += `${JSON.stringify(name)}:${text}`;
      if (list) {
        pieces.push(Buffer.from(`${opening}[`), list);
        opening = ']';
      }
      opening += ',';
    }
    return [...pieces, Buffer.from(`${opening.replace(/,$/, '')}}`)];
  }

  /** A list that begins as the last one of its name did is written on from where they part. */
  private listBytes(name: string, items: readonly unknown[]): Uint8Array {
    const before = this.lists.get(name);
    const shared = before ? sharedLength(items, before.items) : 0;
    const bytes = before?.bytes.after(shared) ?? new GrowingBytes();
    for (let index = shared; index < items.length; index++)
      bytes.add(`${index === 0 ? '' : ','}${this.textOf(items[index], deepest) ?? 'null'}`);
    this.lists.set(name, { items, bytes });
    return bytes.view();
  }

  private textOf(value: unknown, depth: number): string | undefined {
    if (!isObject(value) && !Array.isArray(value)) return JSON.stringify(value);
    if (this.texts.has(value)) return this.lasting(value);
    if (depth === 0) return JSON.stringify(value);
    if (Array.isArray(value))
      return `[${value.map((item) => this.textOf(item, depth - 1) ?? 'null').join(',')}]`;
    const fields = Object.entries(value).flatMap(([name, field]) => {
      const text = this.textOf(field, depth - 1);
      return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
    });
    return `{${fields.join(',')}}`;
  }

  private lasting(part: object): string {
    const known = this.texts.get(part);
    if (known !== undefined) return known;
    const text = JSON.stringify(part);
    this.texts.set(part, text);
    return text;
  }

  private wayNamed(way: string): WeakMap<object, object> {
    const known = this.made.get(way);
    if (known) return known;
    const fresh = new WeakMap<object, object>();
    this.made.set(way, fresh);
    return fresh;
  }
}

interface Reading {
  readonly sources: readonly object[];
  readonly made: readonly object[];
}

interface WrittenList {
  readonly items: readonly unknown[];
  /** Without its brackets. */
  readonly bytes: GrowingBytes;
}

/** Texts in UTF-8, one behind the other, that more are added to. */
class GrowingBytes {
  private room = Buffer.allocUnsafe(4096);
  private length = 0;
  /** Where each text ends. */
  private ends: number[] = [];

  /** These, when so many of the texts are all; else a copy that has only those, for what was once read stays as it is. */
  after(texts: number): GrowingBytes {
    if (texts === this.ends.length) return this;
    const copy = new GrowingBytes();
    const length = texts === 0 ? 0 : (this.ends[texts - 1] ?? 0);
    copy.ends = this.ends.slice(0, texts);
    copy.reserve(length);
    copy.length = this.room.copy(copy.room, 0, 0, length);
    return copy;
  }

  add(text: string): void {
    this.reserve(this.length + text.length * 3);
    this.length += this.room.write(text, this.length);
    this.ends.push(this.length);
  }

  /** More may be added behind it. */
  view(): Uint8Array {
    return this.room.subarray(0, this.length);
  }

  private reserve(size: number): void {
    if (size <= this.room.length) return;
    const larger = Buffer.allocUnsafe(Math.max(size, this.room.length * 2));
    this.room.copy(larger, 0, 0, this.length);
    this.room = larger;
  }
}

/** How many items two lists begin with alike. */
function sharedLength(items: readonly unknown[], before: readonly unknown[]): number {
  const most = Math.min(items.length, before.length);
  let index = 0;
  while (index < most && items[index] === before[index]) index += 1;
  return index;
}

function goesOn(items: readonly unknown[], before: readonly unknown[]): boolean {
  return sharedLength(items, before) === before.length;
}

/** Levels below a body's fields that are looked through for parts: its messages, their fields and blocks. */
const deepest = 3;
