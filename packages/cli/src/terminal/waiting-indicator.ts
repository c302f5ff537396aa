import { type Transcript, waitsOf } from '@groundcrew/sdk';
import type { Output } from './terminal.js';
import { visible } from './visible.js';

/** What a terminal shows while nothing else happens: what the turn waits for, and for how long. */
export class WaitingIndicator {
  private waitsFor: string | undefined;
  private since = 0;
  private timer: NodeJS.Timeout | undefined;
  private isDrawn = false;

  constructor(
    private readonly output: Output,
    /** Milliseconds before it appears, and between its changes; a quick answer never shows it. */
    private readonly interval = 1_000,
  ) {}

  /** Shows what the session waits for now: the model or a tool. A question, or an answer that arrives, is no wait. */
  follow(transcript: Transcript): void {
    const [wait] = waitsOf(transcript);
    if (wait === undefined || wait.type === 'question') this.stop();
    else this.wait(wait.type === 'model' ? 'the model' : visible(wait.name));
  }

  /** Takes the line away, so that something else can be written; it comes back while the wait lasts. */
  erase(): void {
    if (this.isDrawn) this.output.write('\r\u001b[K');
    this.isDrawn = false;
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.waitsFor = undefined;
    this.erase();
  }

  private wait(what: string): void {
    if (what === this.waitsFor) return;
    this.stop();
    this.waitsFor = what;
    this.since = Date.now();
    this.timer = setInterval(() => this.draw(), this.interval);
    this.timer.unref();
  }

  private draw(): void {
    const seconds = Math.round((Date.now() - this.since) / 1000);
    this.output.write(`\r\u001b[K… waiting for ${this.waitsFor}, ${seconds} s`);
    this.isDrawn = true;
  }
}
