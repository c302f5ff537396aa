import type { SessionEvent } from '@groundcrew/sdk';
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

  /** Follows a turn by its events. */
  receive(event: SessionEvent): void {
    if (event.agentId !== undefined) return;
    if (event.type === 'user.message' || event.type === 'tool.execution_complete') this.wait('the model');
    if (event.type === 'tool.execution_start') this.wait(visible(event.data.toolName));
    if (event.type === 'permission.completed') this.wait('the tool');
    if (endEvents.has(event.type)) this.stop();
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

/** What ends a wait: something is shown or asked, or the turn is over. */
const endEvents: ReadonlySet<string> = new Set([
  'abort',
  'assistant.message_delta',
  'permission.requested',
  'session.error',
  'session.idle',
  'user_input.requested',
]);
