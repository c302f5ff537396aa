import type { ServerHeaders } from './client-headers.js';

/** Tokens that are renewed again and again: of so many the last are remembered. */
const mostRemembered = 50;
/** Shorter words of a header, such as `Bearer`, are in every text. */
const shortestWord = 8;

/** What a server was sent that no event, error or status may repeat: values of headers, their words, tokens. */
export class SentSecrets {
  private readonly known = new Set<string>();

  constructor(private readonly given: readonly string[]) {}

  get list(): readonly string[] {
    return [...this.given, ...this.known].flatMap((value) => [value, ...wordsOf(value)]);
  }

  note<T extends string | undefined>(value: T): T {
    if (value === undefined) return value;
    this.known.delete(value);
    this.known.add(value);
    const [oldest] = this.known;
    if (this.known.size > mostRemembered && oldest !== undefined) this.known.delete(oldest);
    return value;
  }

  /** Headers that clients give, noted as they are sent. */
  noteHeaders(headers: ServerHeaders): ServerHeaders {
    return {
      current: async () => {
        const current = await headers.current();
        for (const value of Object.values(current)) this.note(value);
        return current;
      },
      refused: () => headers.refused(),
    };
  }
}

function wordsOf(value: string): readonly string[] {
  return value.split(/[\s;,]+/).filter((word) => word.length >= shortestWord);
}
