import { PassThrough } from 'node:stream';
import type { StopSignal, Terminal } from '../src/terminal/terminal.js';

/** A terminal made of streams: a test types, reads and interrupts. */
export class TestTerminal implements Terminal {
  readonly environment = {};
  readonly version = '1.2.3';
  readonly input = new PassThrough();
  readonly output: Recorder;
  readonly errorOutput: Recorder;
  readonly exits: number[] = [];
  private readonly handlers = new Set<(signal: StopSignal) => void>();

  constructor(
    readonly workingDirectory: string,
    readonly inputKind: Terminal['inputKind'] = 'pipe',
  ) {
    const isTTY = inputKind === 'terminal';
    this.output = new Recorder(isTTY);
    this.errorOutput = new Recorder(isTTY);
  }

  onStop(handler: (signal: StopSignal) => void): () => void {
    this.handlers.add(handler);
    return () => this.handlers.delete(handler);
  }

  onWarning(): () => void {
    return () => undefined;
  }

  exit(code: number): void {
    this.exits.push(code);
  }

  /** Types a line. */
  type(line: string): void {
    this.input.write(`${line}\n`);
  }

  signal(signal: StopSignal): void {
    for (const handler of this.handlers) handler(signal);
  }
}

/** A stream that keeps what was written to it. */
export class Recorder extends PassThrough {
  text = '';

  constructor(readonly isTTY: boolean) {
    super();
    this.setEncoding('utf8');
    this.on('data', (text: string) => {
      this.text += text;
    });
  }

  /** Resolves once the text contains these words, one after the other. */
  async says(...words: readonly string[]): Promise<void> {
    while (!this.contains(words)) await new Promise((resolve) => this.once('data', resolve));
  }

  private contains(words: readonly string[]): boolean {
    let from = 0;
    return words.every((each) => {
      const at = this.text.indexOf(each, from);
      from = at + each.length;
      return at >= 0;
    });
  }
}
