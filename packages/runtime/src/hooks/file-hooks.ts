import type { Confinement } from '../exec/sandbox-confinement.js';
import type { JobRunner } from '../exec/workers.js';
import type { SessionState } from '../log/state.js';
import type { ProgramHost } from '../tools/shell/program.js';
import { commandHook } from './command-hook.js';
import type { HookFiles } from './hook-files.js';
import type { HookSource } from './hooks.js';

/** What a session's hooks files are read and run with. */
export interface FileHookParts {
  /** They are enabled by what the log says of it. */
  isOn(state: SessionState): boolean;
  read(state: SessionState): HookFiles;
  readonly programs: ProgramHost;
  readonly jobs: JobRunner;
  /** What the next command may touch. Throws SandboxUnavailable. */
  confinement(): Promise<Confinement | undefined>;
}

/**
 * The hooks of a session's files. They are read once, at the first prompt of a session that was opened: what the agent
 * writes into them does not change by what it is guarded now.
 */
export class FileHooks {
  private known: { readonly sources: readonly HookSource[]; readonly problem?: string } | undefined;
  private hasWarned = false;

  constructor(private readonly parts: FileHookParts) {}

  sources(state: SessionState): readonly HookSource[] {
    return this.parts.isOn(state) ? this.read(state).sources : [];
  }

  /** Why files cannot be taken as they are; once. */
  warning(state: SessionState): string | undefined {
    if (this.hasWarned || !this.parts.isOn(state)) return undefined;
    const { problem } = this.read(state);
    if (problem === undefined) return undefined;
    this.hasWarned = true;
    return `${problem}. No tool runs until this is fixed and the session is opened again.`;
  }

  private read(state: SessionState) {
    if (this.known) return this.known;
    const { hooks, problem } = this.parts.read(state);
    const sources = hooks.map((hook) => commandHook(hook, this.parts));
    this.known =
      problem === undefined ? { sources } : { sources: [...sources, brokenFile(problem)], problem };
    return this.known;
  }
}

/** What an unreadable file forbids is not known: it forbids everything. */
function brokenFile(problem: string): HookSource {
  return {
    name: 'a hooks file',
    types: ['preToolUse'],
    timeoutMs: 1000,
    onFailure: 'deny',
    invoke: async () => {
      throw new Error(problem);
    },
  };
}
