import type { HookType } from '@groundcrew/protocol';

/** A command of a hooks file. */
export interface CommandHook {
  readonly hookType: HookType;
  /** For the shell of this system. */
  readonly command: string;
  readonly workingDirectory: string;
  /** On top of what commands get. */
  readonly environment: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Whether one that fails before a tool call denies the call, or has no opinion. */
  readonly onFailure: 'deny' | 'allow';
  /** Only calls of tools whose whole name it matches are put to it. */
  readonly matcher?: RegExp;
  /** Where it is written, for errors. */
  readonly origin: string;
}

/** What the hooks files of a session say. */
export interface HookFiles {
  readonly hooks: readonly CommandHook[];
  /** Why some file cannot be taken as it is, with file and line. What it forbids is not known: no tool runs. */
  readonly problem?: string;
}

/** Where a session looks for hooks files. */
export interface HookPlace {
  readonly workingDirectory: string;
  /** The root of the project, where it is known. */
  readonly projectDirectory?: string | undefined;
  readonly configDir?: string | undefined;
}

/** Reads hooks files. */
export interface HookFilesReader {
  /** The user has enabled them for every session; no client can turn them off. */
  readonly isAlwaysOn: boolean;
  read(place: HookPlace): HookFiles;
}
