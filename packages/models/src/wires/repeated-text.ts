import type { ModelEvent } from '../model.js';

/**
 * Reads frames that are the last one again with another text, without parsing them: most of a streamed answer.
 * Whatever differs in anything but the inside of that one string is not recognised, and is parsed as ever.
 */
export class RepeatedText {
  #before = '';
  #after = '';

  /** The text of a frame that repeats the one learnt last. */
  read(data: string): string | undefined {
    const before = this.#before;
    const after = this.#after;
    if (before === '' || data.length < before.length + after.length) return undefined;
    if (!data.startsWith(before) || !data.endsWith(after)) return undefined;
    const text = data.slice(before.length, data.length - after.length);
    return mayNeedParsing.test(text) ? undefined : text;
  }

  /** Takes a frame as the pattern for those that follow, if all it told was a text that stands in it once. */
  learn(data: string, emitted: readonly ModelEvent[]): void {
    this.#before = '';
    const [event] = emitted;
    if (emitted.length !== 1 || event?.type !== 'text') return;
    const literal = `:${JSON.stringify(event.delta)}`;
    const place = data.indexOf(literal);
    if (place < 0 || data.includes(literal.slice(1), place + literal.length)) return;
    if (data.lastIndexOf(literal.slice(1), place) >= 0) return;
    this.#before = data.slice(0, place + 2);
    this.#after = data.slice(place + literal.length - 1);
  }
}

/** The end of the string, an escape, or what JSON does not allow inside of one. */
const mayNeedParsing = /["\\\p{Cc}]/u;
