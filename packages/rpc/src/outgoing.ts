import type { Writable } from 'node:stream';

/**
 * Writes texts in order, long ones in pieces between which others have their turn: to turn 30 MB into bytes at once would hold
 * them up.
 */
export class Outgoing {
  private readonly waiting: { readonly text: string; readonly isLatin: boolean; written(): void }[] = [];
  private at = 0;
  private onEmpty: (() => void) | undefined;

  constructor(private readonly output: Writable) {}

  /** `written` is called when the system has taken all of it. */
  write(text: string, isLatin: boolean, written: () => void): void {
    if (this.waiting.length === 0 && text.length <= pieceLength)
      this.output.write(text, isLatin ? 'latin1' : 'utf8', written);
    else if (this.waiting.push({ text, isLatin, written }) === 1) this.writeSome();
  }

  /** Calls back when nothing waits any more. */
  whenEmpty(then: () => void): void {
    if (this.waiting.length === 0) then();
    else this.onEmpty = then;
  }

  private readonly writeSome = (): void => {
    const [first] = this.waiting;
    if (first === undefined || this.output.destroyed) return;
    const { text, isLatin, written } = first;
    const end = cutAfter(text, this.at);
    const isLast = end === text.length;
    this.output.write(text.slice(this.at, end), isLatin ? 'latin1' : 'utf8', isLast ? written : undefined);
    this.at = isLast ? 0 : end;
    if (isLast) this.waiting.shift();
    if (this.waiting.length > 0) setImmediate(this.writeSome);
    else this.onEmpty?.();
  };
}

const pieceLength = 512 * 1024;

/** Not between the two halves of a character. */
function cutAfter(text: string, start: number): number {
  const end = Math.min(start + pieceLength, text.length);
  const isHalf = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHalf ? end - 1 : end;
}
