import type { FileSync } from '../workspace/file-sync.js';
import type { SpillPlace } from '../workspace/spilled-output.js';

/** When a result is too long for the model, and where it goes then. The gate bounds results; tools return all they have. */
export interface LargeOutput extends SpillPlace {
  readonly isEnabled: boolean;
  readonly maxBytes: number;
  /** Stores what was put into the session's own directory elsewhere too. */
  readonly sync?: FileSync;
}

/** Bytes that a model reads at once, unless the app says otherwise. */
export const defaultOutputBytes = 20 * 1024;

/** A size for users to read. */
export function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}
