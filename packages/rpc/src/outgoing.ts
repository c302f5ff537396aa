import type { Writable } from 'node:stream';

/** Some of a message: the next of its pieces, and whether it is the last. */
interface Piece {
  readonly bytes: string | Buffer;
  readonly encoding: 'latin1' | 'utf8';
  readonly isLast: boolean;
}

/**
 * Writes messages in order, long ones in pieces between which others have their turn: to turn 30 MB into bytes at once would
 * hold them up.
 */
export class Outgoing {
  private readonly waiting: { readonly pieces: Iterator<Piece>; written(): void }[] = [];
  private onEmpty: (() => void) | undefined;

  constructor(private readonly output: Writable) {}

  /** `written` is called when the system has taken all of it. */
  write(text: string, isLatin: boolean, written: () => void): void {
    if (this.waiting.length === 0 && text.length <= pieceLength)
      this.output.write(text, isLatin ? 'latin1' : 'utf8', written);
    else this.add(piecesOf(text, isLatin ? 'latin1' : 'utf8'), written);
  }

  /** Bytes that are in pieces already. */
  writePieces(pieces: readonly Buffer[], written: () => void): void {
    const last = pieces.length - 1;
    this.add(
      pieces
        .map((bytes, index): Piece => ({ bytes, encoding: 'utf8', isLast: index === last }))
        [Symbol.iterator](),
      written,
    );
  }

  /** Calls back when nothing waits any more. */
  whenEmpty(then: () => void): void {
    if (this.waiting.length === 0) then();
    else this.onEmpty = then;
  }

  private add(pieces: Iterator<Piece>, written: () => void): void {
    if (this.waiting.push({ pieces, written }) === 1) this.writeSome();
  }

  private readonly writeSome = (): void => {
    const [first] = this.waiting;
    if (first === undefined || this.output.destroyed) return;
    const { value: piece } = first.pieces.next() as { readonly value: Piece }; // the last one takes it off
    this.output.write(piece.bytes, piece.encoding, piece.isLast ? first.written : undefined);
    if (piece.isLast) this.waiting.shift();
    if (this.waiting.length > 0) setImmediate(this.writeSome);
    else this.onEmpty?.();
  };
}

const pieceLength = 512 * 1024;

function* piecesOf(text: string, encoding: Piece['encoding']): Generator<Piece> {
  for (let at = 0; at < text.length || at === 0; ) {
    const end = cutAfter(text, at);
    yield { bytes: text.slice(at, end), encoding, isLast: end === text.length };
    at = end;
    if (end === text.length) return;
  }
}

/** Not between the two halves of a character. */
function cutAfter(text: string, start: number): number {
  const end = Math.min(start + pieceLength, text.length);
  const isHalf = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800;
  return isHalf ? end - 1 : end;
}
