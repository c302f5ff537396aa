import type { LiveRuntime } from '@groundcrew/testkit';

/** Something that a model, a file, a page or a client may ask for, at its worst. */
export interface FreezeCase {
  readonly name: string;
  /** Makes what it takes; the result does what is measured. */
  prepare(runtime: LiveRuntime): Promise<() => Promise<unknown>>;
}

/** How large it gets where that takes long to make. */
export interface FreezeScale {
  readonly events: number;
  readonly files: number;
  readonly commands: number;
  readonly sessions: number;
}
