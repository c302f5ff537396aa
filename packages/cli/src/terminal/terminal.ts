import type { Environment } from '@groundcrew/models';

/** Text that comes from a user or a pipe. */
export type Input = NodeJS.ReadableStream & { readonly isTTY?: boolean };

/** Where text goes. */
export type Output = NodeJS.WritableStream & { readonly isTTY?: boolean };

/** Why the program is asked to stop: a user, the system, or an output without a reader. */
export type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGPIPE';

/** What a command of users is given by its process. */
export interface Terminal {
  readonly environment: Environment;
  readonly workingDirectory: string;
  readonly version: string;
  readonly input: Input;
  readonly output: Output;
  /** For activity, warnings and errors: whatever is no answer. */
  readonly errorOutput: Output;
  /** What stdin is, known without opening it. */
  readonly inputKind: InputKind;
  /** Learns of every request to stop, from now on. Returns the undo. */
  onStop(handler: (signal: StopSignal) => void): () => void;
  /** What Node warns of goes there from now on, and not to stderr. Returns the undo. */
  onWarning(handler: (message: string) => void): () => void;
  /** Ends the program at once. */
  exit(code: number): void;
}

/**
 * A user, something that certainly ends (a shell's pipe, a file), or something that may stay open without
 * ever saying a word (what programs give their children).
 */
export type InputKind = 'terminal' | 'pipe' | 'socket';

/** Whether what users read beside the answer may have colours. */
export function hasColours({
  environment,
  errorOutput,
}: Pick<Terminal, 'environment' | 'errorOutput'>): boolean {
  return errorOutput.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb';
}

/** How the program ends. */
export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  SIGHUP: 129,
  SIGINT: 130,
  SIGPIPE: 141,
  SIGTERM: 143,
} as const;
