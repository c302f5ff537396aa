import type { Child } from '../../exec/executor.js';
import type { Confinement } from '../../exec/sandbox-confinement.js';

/** A program that is spoken to by its pipes. */
export interface WantedProgram {
  readonly program: string;
  readonly parameters: readonly string[];
  readonly workingDirectory: string;
  /** On top of what commands get. */
  readonly environment: Readonly<Record<string, string>>;
  /** `${NAME}` in a value stands for a variable that commands get. */
  readonly expandsVariables?: boolean;
  /** What it may touch; without it, it runs as the user. */
  readonly confinement?: Confinement | undefined;
}

/** A program that runs under guard. */
export interface StartedProgram {
  readonly child: Child;
  /** Ends it with all that it has started. */
  end(): Promise<void>;
}

/** Starts programs on behalf of their owners, and ends all of an owner's at once. */
export interface ProgramHost {
  /** Throws CannotConfine. */
  startProgram(wanted: WantedProgram, owner: object): Promise<StartedProgram>;
  endProgramsOf(owner: object): Promise<void>;
}
