import type { ToolEnvironment, ToolResult } from '../tool.js';
import { endsWithin } from './ends-within.js';
import { startProgress, unreadOutput } from './run-command.js';
import type { Shell } from './shell.js';

/** How a command that a user ran has ended. */
export type UserOutcome =
  | { readonly type: 'ended'; readonly output: string; readonly exitCode: number }
  | { readonly type: 'cancelled'; readonly output: string }
  | { readonly type: 'failed'; readonly message: string };

/** Commands that users run beside the model, in the same shells and under the same guard. */
export class UserCommands {
  private readonly processes = new Map<string, Shell>();
  private readonly requests = new Map<string, AbortController>();

  /** Starts a command and says when it has ended; one that was killed ends with 1. */
  async start(
    order: {
      readonly processId: string;
      readonly command: string;
      /** Milliseconds; none or 0: no limit. */
      readonly timeout?: number;
    },
    toolEnvironment: ToolEnvironment,
    onExit: (exitCode: number) => void,
  ): Promise<void> {
    const { processId, command, timeout } = order;
    const { shells, workingDirectory, largeOutput } = toolEnvironment;
    const registry = await shells.open();
    const shell = await registry.start({
      confinement: await toolEnvironment.confinement?.(),
      command,
      workingDirectory,
      largeOutput,
      mode: 'async',
      isDetached: false,
    });
    this.processes.set(processId, shell);
    const timer = timeout
      ? setTimeout(() => void registry.stop(shell), Math.min(timeout, longestTimer))
      : undefined;
    void shell.ended.then(() => {
      clearTimeout(timer);
      this.processes.delete(processId);
      onExit(shell.wasKilled ? 1 : (shell.exitCode ?? 1));
    });
  }

  /** Sends a signal to a command and all that it has started; false when it is not there. */
  async kill(processId: string, signal: NodeJS.Signals, { shells }: ToolEnvironment): Promise<boolean> {
    const shell = this.processes.get(processId);
    return shell !== undefined && (await shells.open()).signal(shell, signal);
  }

  /** Runs a command to its end, or until its request is cancelled. */
  async run(
    order: {
      readonly requestId: string;
      readonly command: string;
      /** Receives all of the output so far. */
      progress(output: string): void;
      /** Makes an output short enough to be read at once. */
      bound(output: Pick<ToolResult, 'text' | 'saved'>): Promise<string>;
    },
    toolEnvironment: ToolEnvironment,
    signal: AbortSignal,
  ): Promise<UserOutcome> {
    const { requestId, command } = order;
    const { shells, workingDirectory, largeOutput } = toolEnvironment;
    const canceller = new AbortController();
    this.requests.set(requestId, canceller);
    try {
      const registry = await shells.open();
      const how = {
        mode: 'sync',
        isDetached: false,
        confinement: await toolEnvironment.confinement?.(),
      } as const;
      const shell = await registry.start({ command, workingDirectory, largeOutput, ...how });
      const stopProgress = startProgress(shell, order);
      const hasEnded = await endsWithin(
        shell.ended,
        longestRun,
        AbortSignal.any([signal, canceller.signal]),
      ).then(
        (outcome) => outcome === 'done',
        () => false,
      );
      stopProgress();
      if (!hasEnded) await registry.stop(shell);
      const output = await order.bound(unreadOutput(shell));
      if (!hasEnded) return { type: 'cancelled', output };
      if (shell.failure) return { type: 'failed', message: shell.failure.message };
      return { type: 'ended', output, exitCode: shell.exitCode ?? -1 };
    } finally {
      this.requests.delete(requestId);
    }
  }

  /** False when no such request runs. */
  cancel(requestId: string): boolean {
    const canceller = this.requests.get(requestId);
    canceller?.abort();
    return canceller !== undefined;
  }
}

/** Timers of Node know no longer time, in milliseconds; with one they would fire at once. */
const longestTimer = 2 ** 31 - 1;

/** No user waits longer than a day. */
const longestRun = 24 * 60 * 60 * 1000;
