/**
 * Writes the bodies of one conversation's calls. The next call has the same messages and tools in front, and costs no more
 * for them: a list is written on from the first item that is another object than the last time.
 */
export class BodyWriter {
  private readonly lists = new Map<string, WrittenList>();

  /**
   * The same as `JSON.stringify` writes, in UTF-8 and in pieces: a long text would be copied and collected with every call.
   * What was written once stays as it is, whatever is written after it.
   */
  write(body: object): readonly Uint8Array[] {
    const pieces: Uint8Array[] = [];
    let opening = '{';
    for (const [name, value] of Object.entries(body)) {
      const list = Array.isArray(value) ? this.listBytes(name, value) : undefined;
      const text = list ? '' : JSON.stringify(value);
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

  private listBytes(name: string, items: readonly unknown[]): Uint8Array {
    const before = this.lists.get(name);
    const shared = before ? sharedLength(items, before.items) : 0;
    const bytes = before?.bytes.after(shared) ?? new GrowingBytes();
    for (let index = shared; index < items.length; index++)
      bytes.add(`${index === 0 ? '' : ','}${JSON.stringify(items[index]) ?? 'null'}`);
    this.lists.set(name, { items, bytes });
    return bytes.view();
  }
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
export function sharedLength(items: readonly unknown[], before: readonly unknown[]): number {
  const most = Math.min(items.length, before.length);
  let index = 0;
  while (index < most && items[index] === before[index]) index += 1;
  return index;
}
