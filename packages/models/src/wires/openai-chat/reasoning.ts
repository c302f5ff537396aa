import { isObject, textOrNothing } from '../../json.js';
import { type Frame, listOf, wrongShape } from '../frames.js';

/** Where services of this wire write what the model thinks; the first that is there counts. */
const textFields = ['reasoning_content', 'reasoning_text', 'reasoning'] as const;

type Details = Record<string, unknown>;

/** The reasoning of one answer, and the fields of it that its service wants back. */
export class Reasoning {
  #field: (typeof textFields)[number] | undefined;
  #text = '';
  #seal: string | undefined;
  readonly #details: Details[] = [];

  /** Takes what a piece of the answer has of it, and gives its text. */
  add(piece: Frame): string | undefined {
    if (piece.reasoning_details !== undefined) this.#addDetails(piece.reasoning_details);
    this.#seal = textOrNothing(piece.reasoning_opaque) ?? this.#seal;
    for (const field of textFields) {
      const text = textOrNothing(piece[field]);
      if (text === undefined) continue;
      this.#field ??= field;
      this.#text += text;
      return text;
    }
    return undefined;
  }

  /**
   * Details and seals always go back. Reasoning in the clear goes back where a service that writes `reasoning_content`
   * waits for the results of its calls: some refuse to go on without them, and none wants them otherwise.
   */
  toSendBack({ hasCalls }: { readonly hasCalls: boolean }): Frame | undefined {
    if (this.#details.length > 0) return { reasoning_details: this.#details };
    if (this.#seal !== undefined)
      return { ...(this.#text !== '' && { reasoning_text: this.#text }), reasoning_opaque: this.#seal };
    if (!hasCalls || this.#field !== 'reasoning_content') return undefined;
    return { reasoning_content: this.#text };
  }

  /** Details are streamed in pieces; those of one kind and number are one. */
  #addDetails(value: unknown): void {
    for (const piece of listOf(value, 'reasoning details')) {
      if (!isObject(piece)) throw wrongShape('a reasoning detail');
      const last = this.#details.at(-1);
      if (last && last.type === piece.type && last.index === piece.index && last.index !== undefined)
        Object.assign(last, joined(last, piece));
      else this.#details.push({ ...piece });
    }
  }
}

function joined(last: Details, piece: Details): Details {
  const grown = ['text', 'summary', 'data'].flatMap((field) => {
    const [before, more] = [last[field], piece[field]];
    return typeof before === 'string' && typeof more === 'string' ? [[field, before + more]] : [];
  });
  const known = Object.entries(piece).filter(([, value]) => value !== null);
  return { ...Object.fromEntries(known), ...Object.fromEntries(grown) };
}
