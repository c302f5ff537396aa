import type { ChildProcess } from 'node:child_process';

/** Where children run: as the user's own processes, or in the sandbox of Linux or of macOS. */
export type ExecutorKind = 'host' | 'bwrap' | 'seatbelt';

/** A program to start. */
export interface Launch {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Its input, output and errors; descriptors stay the caller's to close. */
  readonly stdio: readonly [ChildStream, ChildStream, ChildStream];
  /** What the processes of a sandbox itself are called, by which they are found when their runtime is gone. */
  readonly title?: string;
  /** Told of the first process within a sandbox before anything runs there. */
  readonly onEntry?: (pid: number) => void;
}

export type ChildStream = 'ignore' | 'pipe' | number;

/** How a child ended, or why it never ran. */
export type ExitStatus =
  | { readonly type: 'exited'; readonly exitCode: number; readonly signal?: NodeJS.Signals }
  | { readonly type: 'failed'; readonly error: Error };

/** A started child. It leads a process session of its own. */
export interface Child {
  /** Absent when it could not be started. */
  readonly pid: number | undefined;
  /** Its pipes, where it was given any. */
  readonly process: ChildProcess;
  /** Never rejects. */
  readonly ended: Promise<ExitStatus>;
}

/** One way to run children. Every child that a session asks for is started by one. */
export interface Executor {
  readonly kind: ExecutorKind;
  /** Starts a program. Throws nothing: what fails is the child's ending. */
  start(launch: Launch): Child;
}
