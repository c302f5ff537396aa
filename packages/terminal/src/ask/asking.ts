import { edit, emptyDraft, wholeText } from '../input/editor.js';
import type { Key } from '../input/keys.js';
import { type OpenQuestion, type Option, opened, type Question } from './question.js';

/** Puts questions to the user, one after the other; who answers elsewhere makes one go away. */
export class Asking {
  private readonly waiting: OpenQuestion[] = [];

  constructor(private readonly onChange: () => void) {}

  /** The question that is shown. */
  get current(): OpenQuestion | undefined {
    return this.waiting[0];
  }

  /** How many wait behind it. */
  get others(): number {
    return Math.max(0, this.waiting.length - 1);
  }

  /** Whether the question that is shown can be answered in words. */
  get takesWords(): boolean {
    const { current } = this;
    return current !== undefined && (current.draft !== undefined || freeOption(current) >= 0);
  }

  /** Shows a sentence below the question, in the place of the one before. */
  say(problem: string | undefined): void {
    this.change({ problem });
    this.onChange();
  }

  /** Resolves with the answer; undefined when the signal fires first. */
  ask<A>(question: Question, signal: AbortSignal): Promise<A | undefined> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve(undefined);
        return;
      }
      const withdraw = () => settle(undefined);
      const settle = (answer: unknown) => {
        signal.removeEventListener('abort', withdraw);
        const at = this.waiting.findIndex((each) => each.settle === settle);
        if (at >= 0) this.waiting.splice(at, 1);
        resolve(answer as A | undefined); // the question's own `read` made it
        this.onChange();
      };
      signal.addEventListener('abort', withdraw, { once: true });
      this.waiting.push(opened(question, settle));
      this.onChange();
    });
  }

  /** Its body was printed above the live part. */
  printed(): void {
    this.change({ isPrinted: true });
  }

  /** What a key does to the question; false when it is none for it. */
  take(key: Key): boolean {
    const { current } = this;
    if (!current) return false;
    const isTaken = current.draft ? this.write(current, key) : this.choose(current, key);
    if (isTaken) this.onChange();
    return isTaken;
  }

  private choose(current: OpenQuestion, key: Key): boolean {
    const { options } = current.question;
    if (key.type === 'text') {
      const typed = key.text.toLowerCase();
      const at = options.findIndex((option, index) => option.key === typed || String(index + 1) === typed);
      if (at >= 0) this.pick(at);
      // A word that begins no option is the beginning of an answer where words are one.
      else this.writeFreely(current, key);
      return true;
    }
    if (key.type === 'paste') {
      this.writeFreely(current, key);
      return true;
    }
    if (key.name === 'up' || key.name === 'down' || key.name === 'tab') {
      const by = key.name === 'up' || key.shift ? -1 : 1;
      this.change({ chosen: (current.chosen + by + options.length) % options.length });
      return true;
    }
    if (key.name === 'escape' && current.question.canCancel) {
      current.settle(undefined);
      return true;
    }
    if (key.name !== 'enter') return false;
    this.pick(current.chosen);
    return true;
  }

  private writeFreely(current: OpenQuestion, key: Key): void {
    const at = freeOption(current);
    if (at < 0) return;
    this.change({ chosen: at, draft: edit(emptyDraft, key) ?? emptyDraft });
  }

  private pick(at: number): void {
    const option = this.current?.question.options[at];
    if (!option) return;
    this.change({ chosen: at });
    if (option.asksFor === undefined) this.answer(option, '');
    else this.change({ draft: emptyDraft });
  }

  private write(current: OpenQuestion, key: Key): boolean {
    const { question, chosen, draft = emptyDraft } = current;
    const option = question.options[chosen];
    if (key.type === 'key' && key.name === 'escape') {
      if (question.options.length > 1) this.change({ draft: undefined, problem: undefined });
      return true;
    }
    const changed = edit(draft, key);
    if (changed) this.change({ draft: changed, problem: undefined });
    else if (key.type === 'key' && key.name === 'enter' && option) this.answer(option, wholeText(draft));
    else return false;
    return true;
  }

  private answer(option: Option<unknown>, words: string): void {
    const { current } = this;
    const read = current?.question.read(option, words.trim());
    if (!current || !read) return;
    if ('problem' in read) this.change({ problem: read.problem });
    else current.settle(read.answer);
  }

  private change(change: Partial<OpenQuestion>): void {
    const { current } = this;
    if (current) this.waiting[0] = { ...current, ...change };
  }
}

/** The option that any words are for; below 0 where there is none. */
function freeOption({ question }: OpenQuestion): number {
  return question.options.findIndex(({ key, asksFor }) => asksFor !== undefined && key === undefined);
}
