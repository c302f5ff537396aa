import type { AnswerPart, Call } from '../conversation.js';

type Pieced = Extract<AnswerPart, { pieces: readonly string[] }>;

/** A part while it grows. */
type Open =
  | { readonly type: 'pieced'; part: Pieced; readonly pieces: string[] }
  | { readonly type: 'call'; call: Call; readonly argumentsPieces: string[] }
  | { readonly type: 'other'; readonly part: AnswerPart };

/** The parts of an answer as they come in: pieces of one part are put together, calls by their place. */
export class PartList {
  private readonly open: Open[] = [];
  private readonly calls = new Map<unknown, Extract<Open, { type: 'call' }>>();

  /** Adds pieces to the last part if it is of the same sort, else begins one. */
  add(part: Exclude<AnswerPart, { type: 'call' }>): void {
    const last = this.open.at(-1);
    if (part.type === 'other') this.open.push({ type: 'other', part });
    else if (last?.type === 'pieced' && isSame(last.part, part)) last.pieces.push(...part.pieces);
    else this.open.push({ type: 'pieced', part, pieces: [...part.pieces] });
  }

  /** A call that is all there. */
  addWholeCall(call: Call): void {
    this.open.push({ type: 'call', call, argumentsPieces: [call.argumentsText] });
  }

  /** A call, or more of the one at this place; without a place, of the last one. */
  addCall(place: unknown, piece: Call): void {
    const begun = this.calls.get(place);
    if (begun && isMoreOf(begun.call, piece)) {
      begun.argumentsPieces.push(piece.argumentsText);
      begun.call = { ...begun.call, id: begun.call.id || piece.id, name: begun.call.name || piece.name };
      return;
    }
    const call = { type: 'call' as const, call: piece, argumentsPieces: [piece.argumentsText] };
    this.calls.set(place, call);
    this.open.push(call);
  }

  /** What the service wants back with the thought before, or alone. */
  seal(seal: string): void {
    const thought = this.open.findLast((each) => each.type === 'pieced' && each.part.type === 'thought');
    if (thought?.type === 'pieced') thought.part = { ...thought.part, type: 'thought', seal };
    else this.open.push({ type: 'pieced', part: { type: 'thought', pieces: [], seal }, pieces: [] });
  }

  /** What came in so far; texts that say nothing are left out. */
  done(): readonly AnswerPart[] {
    return this.open.map(closed).filter((part) => !('pieces' in part) || isSomething(part));
  }
}

/** Services number calls loosely: another id, or a name without the same id, begins another call. */
function isMoreOf(begun: Call, piece: Call): boolean {
  if (begun.id !== '' && piece.id !== '') return begun.id === piece.id;
  return begun.name === '' || piece.name === '';
}

function isSame(last: Pieced, next: Pieced): boolean {
  if (last.type !== next.type) return false;
  return last.type !== 'thought' || (next.type === 'thought' && last.field === next.field);
}

function closed(open: Open): AnswerPart {
  switch (open.type) {
    case 'pieced':
      return { ...open.part, pieces: open.pieces.filter((piece) => piece !== '') };
    case 'call':
      return { type: 'call', call: { ...open.call, argumentsText: open.argumentsPieces.join('') } };
    case 'other':
      return open.part;
  }
}

function isSomething(part: Pieced): boolean {
  return part.pieces.length > 0 || (part.type === 'thought' && part.seal !== undefined);
}
