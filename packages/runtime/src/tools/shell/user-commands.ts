import type { ToolSurroundings } from '../tool.js';
import { firstOf } from './first-of.js';
import { unreadOutput } from './run-command.js';
import type { Shell } from './shell.js';

/** How a command that a person ran has ended. */
export interface UserOutcome {
  readonly success: boolean;
  readonly output: string;
  readonly exitCode: number | null;
  readonly error?: string;
}

/** Commands that people run beside the model, in the same shells and under the same guard. They are not asked for leave: it is theirs to give. */
export class UserCommands {
  private readonly processes = new Map<string, Shell>();
  private readonly requests = new Map<string, AbortController>();

  /** Starts a command and says when it has ended; one that was killed ends with 1. */
  async start(
    order: { readonly processId: string; readonly command: string; readonly timeout?: number },
    { shells, workingDirectory, largeOutput }: ToolSurroundings,
    onExit: (exitCode: number) => void,
  ): Promise<void> {
    const { processId, command, timeout } = order;
    const registry = await shells.open();
    const shell = await registry.start({
      command,
      workingDirectory,
      largeOutput,
      mode: 'async',
      isDetached: false,
    });
    this.processes.set(processId, shell);
    const timer = timeout === undefined ? undefined : setTimeout(() => void registry.stop(shell), timeout);
    void shell.ended.then(() => {
      clearTimeout(timer);
      this.processes.delete(processId);
      onExit(shell.wasKilled ? 1 : (shell.exitCode ?? 1));
    });
  }

  /** Sends a signal to a command and all that it has started; false when it is not there. */
  async kill(processId: string, signal: NodeJS.Signals, { shells }: ToolSurroundings): Promise<boolean> {
    const shell = this.processes.get(processId);
    return shell !== undefined && (await shells.open()).signal(shell, signal);
  }

  /** Runs a command to its end, or until its request is cancelled. */
  async run(
    order: { readonly requestId: string; readonly command: string },
    { shells, workingDirectory, largeOutput }: ToolSurroundings,
  ): Promise<UserOutcome> {
    const canceller = new AbortController();
    this.requests.set(order.requestId, canceller);
    const registry = await shells.open();
    const { command } = order;
    const shell = await registry.start({
      command,
      workingDirectory,
      largeOutput,
      mode: 'sync',
      isDetached: false,
    });
    const wasCancelled = await firstOf(shell.ended, longestRun, canceller.signal).then(
      (outcome) => outcome === 'late',
      () => true,
    );
    this.requests.delete(order.requestId);
    if (wasCancelled) await registry.stop(shell);
    const output = await unreadOutput(shell, largeOutput);
    const { exitCode = null, failure } = shell;
    const error = wasCancelled ? 'The command was cancelled' : failure?.message;
    return {
      success: exitCode === 0 && !wasCancelled,
      output,
      exitCode,
      ...(error !== undefined && { error }),
    };
  }

  /** False when no such request runs. */
  cancel(requestId: string): boolean {
    const canceller = this.requests.get(requestId);
    canceller?.abort();
    return canceller !== undefined;
  }
}

/** No person waits longer than a day. */
const longestRun = 24 * 60 * 60 * 1000;
