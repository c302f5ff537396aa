import { exitCodes, type StopSignal, type Terminal } from './terminal.js';

/** The longest time a timer knows, in seconds, and a little less. */
export const longestTimeout = 2_000_000;

/** Stops the work at the first request; asked by a signal again, the program ends at once. */
export class Stopping {
  /** What users read; nothing when there is no reader any more. */
  reason: string | undefined;
  exitCode: number = exitCodes.failed;
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout | undefined;
  private readonly undo: () => void;

  /** The time is in seconds. */
  constructor(
    private readonly terminal: Pick<Terminal, 'onStop' | 'exit'>,
    timeout: number | undefined,
  ) {
    this.undo = terminal.onStop((signal) => this.stopBy(signal));
    if (timeout === undefined) return;
    this.timer = setTimeout(() => {
      this.stop(`Timeout after ${timeout}s waiting for the answer`, exitCodes.failed);
    }, timeout * 1000);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Ctrl-C while a line is edited. */
  interrupt(): void {
    this.stopBy('SIGINT');
  }

  /** The work is done. */
  end(): void {
    clearTimeout(this.timer);
    this.undo();
  }

  private stopBy(signal: StopSignal): void {
    const code = exitCodes[signal];
    if (!this.signal.aborted) this.stop(signal === 'SIGPIPE' ? undefined : `Stopped by ${signal}`, code);
    else if (signal !== 'SIGPIPE') this.terminal.exit(code);
  }

  private stop(reason: string | undefined, exitCode: number): void {
    if (this.signal.aborted) return;
    this.reason = reason;
    this.exitCode = exitCode;
    this.controller.abort();
  }
}
