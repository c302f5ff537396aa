import { createInterface, type Interface, type Key } from 'node:readline';
import type { Input, Output } from './terminal.js';

/**
 * Lines that a user types or a program pipes in, one at a time. On a terminal one entry may have several lines: a paste
 * stays open until Enter is pressed, and so does a line that ends in a backslash or with Alt+Enter.
 */
export class LineInput {
  private readonly reader: Interface;
  private readonly ahead: string[] = [];
  /** Lines of an entry that is still open. */
  private readonly open: string[] = [];
  private isPasting = false;
  /** The next line end was Alt+Enter. */
  private continues = false;
  private waiting: ((line: string | undefined) => void) | undefined;
  private isOver = false;
  private prompt = '';

  constructor(private readonly options: { input: Input; output: Output; isTerminal: boolean }) {
    const { input, output, isTerminal } = options;
    this.reader = createInterface({
      input,
      terminal: isTerminal,
      crlfDelay: Number.POSITIVE_INFINITY,
      ...(isTerminal && { output }),
    });
    this.reader.on('line', (line) => (isTerminal ? this.receiveTyped(line) : this.receive(line)));
    this.reader.on('close', () => {
      this.isOver = true;
      this.settle(undefined);
    });
    if (!isTerminal) return;
    output.write(bracketedPaste.on);
    input.on('keypress', this.onKey);
  }

  /** The next line; undefined after the last one, or when the signal fires. */
  async next(prompt: string, signal?: AbortSignal): Promise<string | undefined> {
    const line = this.ahead.shift();
    if (line !== undefined) return line;
    if (this.isOver || signal?.aborted) return undefined;
    const stop = () => this.settle(undefined);
    signal?.addEventListener('abort', stop, { once: true });
    if (this.options.isTerminal) {
      this.prompt = prompt;
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

  /** An answer to a question that is asked now: what a user typed before it was asked is no answer. */
  async answer(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.options.isTerminal) {
      this.ahead.length = 0;
      this.open.length = 0;
    }
    return this.next(question, signal);
  }

  /** What a user typed before anything was asked arrives at once when the terminal is read, and is no answer. */
  async clearTyped(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, typedBefore));
    this.ahead.length = 0;
    this.open.length = 0;
    this.clearLine();
  }

  /** Receives Ctrl-C of a terminal, which is no signal while lines are edited; what follows begins on a new line. */
  onInterrupt(handler: () => void): void {
    this.reader.on('SIGINT', () => {
      this.open.length = 0;
      this.options.output.write('\n');
      handler();
    });
  }

  /** Asks for the line anew, after something else was written; what was typed of it is forgotten. */
  promptAgain(): void {
    if (!this.options.isTerminal || !this.waiting) return;
    this.clearLine();
    this.reader.setPrompt(this.prompt);
    this.reader.prompt();
  }

  close(): void {
    if (this.options.isTerminal) {
      this.options.input.off('keypress', this.onKey);
      this.options.output.write(bracketedPaste.off);
    }
    this.reader.close();
  }

  /** Readline names the marks around a paste, and does nothing with them. */
  private readonly onKey = (_text: string | undefined, key: Key): void => {
    if (key.name === 'paste-start') this.isPasting = true;
    if (key.name === 'paste-end') this.isPasting = false;
    if (key.meta && (key.name === 'return' || key.name === 'enter')) {
      this.continues = true;
      this.reader.write('\n');
    }
  };

  private receiveTyped(line: string): void {
    const isOpen = this.isPasting || this.continues || line.endsWith('\\');
    const text = !this.isPasting && !this.continues && isOpen ? line.slice(0, -1) : line;
    this.continues = false;
    this.open.push(text);
    if (!isOpen) this.receive(this.open.splice(0).join('\n'));
    else if (!this.isPasting) {
      this.reader.setPrompt(continuation);
      this.reader.prompt();
    }
  }

  private clearLine(): void {
    this.reader.write(null, { ctrl: true, name: 'e' });
    this.reader.write(null, { ctrl: true, name: 'u' });
  }

  private receive(line: string): void {
    if (this.waiting) this.settle(line);
    else this.ahead.push(line);
  }

  private settle(line: string | undefined): void {
    const { waiting } = this;
    this.waiting = undefined;
    waiting?.(line);
  }
}

/** With these a terminal marks where a paste begins and ends, so that its line ends are text. */
const bracketedPaste = { on: '\u001b[?2004h', off: '\u001b[?2004l' };

const continuation = '… ';

/** Milliseconds in which what waits in a terminal has arrived; no user reads a question faster. */
const typedBefore = 30;
