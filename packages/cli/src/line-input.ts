import { createInterface, type Interface } from 'node:readline';
import type { Input, Output } from './terminal.js';

/** Lines that a person types or a program pipes in, one at a time. */
export class LineInput {
  private readonly reader: Interface;
  private readonly ahead: string[] = [];
  private waiting: ((line: string | undefined) => void) | undefined;
  private isOver = false;

  constructor(private readonly options: { input: Input; output: Output; isTerminal: boolean }) {
    const { input, output, isTerminal } = options;
    this.reader = createInterface({
      input,
      terminal: isTerminal,
      crlfDelay: Number.POSITIVE_INFINITY,
      ...(isTerminal && { output }),
    });
    this.reader.on('line', (line) => this.hear(line));
    this.reader.on('close', () => {
      this.isOver = true;
      this.settle(undefined);
    });
  }

  /** The next line; undefined after the last one, or when the signal fires. */
  async next(prompt: string, signal?: AbortSignal): Promise<string | undefined> {
    const line = this.ahead.shift();
    if (line !== undefined) return line;
    if (this.isOver || signal?.aborted) return undefined;
    const stop = () => this.settle(undefined);
    signal?.addEventListener('abort', stop, { once: true });
    if (this.options.isTerminal) {
      this.reader.setPrompt(prompt);
      this.reader.prompt();
    }
    try {
      return await new Promise((resolve) => {
        this.waiting = resolve;
      });
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** An answer to a question that is asked now: what a person typed before it was asked is no answer. */
  async answer(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.options.isTerminal) this.ahead.length = 0;
    return this.next(question, signal);
  }

  /** What a person typed before anything was asked arrives at once when the terminal is read, and is no answer. */
  async forgetTyped(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, typedBefore));
    this.ahead.length = 0;
    this.clearLine();
  }

  /** Hears Ctrl-C of a terminal, which is no signal while lines are edited; what follows begins on a new line. */
  onInterrupt(handler: () => void): void {
    this.reader.on('SIGINT', () => {
      this.options.output.write('\n');
      handler();
    });
  }

  /** Asks for the line anew, after something else was written; what was typed of it is forgotten. */
  promptAgain(): void {
    if (!this.options.isTerminal || !this.waiting) return;
    this.clearLine();
    this.reader.prompt();
  }

  close(): void {
    this.reader.close();
  }

  private clearLine(): void {
    this.reader.write(null, { ctrl: true, name: 'e' });
    this.reader.write(null, { ctrl: true, name: 'u' });
  }

  private hear(line: string): void {
    if (this.waiting) this.settle(line);
    else this.ahead.push(line);
  }

  private settle(line: string | undefined): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.(line);
  }
}

/** Milliseconds in which what waits in a terminal has arrived; nobody reads a question faster. */
const typedBefore = 30;
