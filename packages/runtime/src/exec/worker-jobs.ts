import type { SearchStep, SearchStepRequest } from '@groundcrew/store';
import type { Todos } from '../workspace/todos.js';

/** Work that a model, a file or a page can make as long as it likes: what goes in, what comes out. */
export interface WorkerJobs {
  readonly sql: {
    readonly input: { readonly file: string; readonly query: string };
    readonly output: SqlOutcome;
  };
  readonly todos: { readonly input: { readonly sessionDirectory: string }; readonly output: Todos };
  readonly markdown: { readonly input: { readonly html: string }; readonly output: string };
  readonly glob: {
    /** What ripgrep printed: names with a zero byte after each, all below `root`. */
    readonly input: { readonly pattern: string; readonly root: string; readonly listed: Uint8Array };
    readonly output: readonly string[];
  };
  /** What is wrong with a value by a JSON Schema. */
  readonly fit: {
    readonly input: { readonly value: unknown; readonly schema: Readonly<Record<string, unknown>> };
    readonly output: { readonly misfit?: string };
  };
  /** A part of a search in all sessions of a home. */
  readonly search: { readonly input: SearchStepRequest; readonly output: SearchStep };
  /** A request to the offline model, and its reply: shapes of the models package. */
  readonly offline: { readonly input: unknown; readonly output: unknown };
}

export type WorkerJobName = keyof WorkerJobs;

/** What came of a script of SQL statements. */
export interface SqlOutcome {
  /** For the model. */
  readonly text: string;
  readonly isFailure: boolean;
  /** How many statements changed the todos, also those before one that failed. */
  readonly todoChanges: number;
}
