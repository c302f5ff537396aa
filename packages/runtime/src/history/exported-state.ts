import { stateOfSnapshot } from '../log/snapshot.js';
import type { SessionState } from '../log/state.js';

/** The file beside `events.jsonl` that has the session's state: with it an import continues exactly as the original would. */
export const stateFile = 'groundcrew-state.json';

/** Raised when what an older version wrote can no longer be read. */
const format = 1;

export type ExportedState = SessionState;

/** The text of such a file. */
export function writeExportedState(state: SessionState): string {
  return `${JSON.stringify({ format, state })}\n`;
}

/** Undefined for a text that is no state of a version that is known here. */
export function parseExportedState(text: string): ExportedState | undefined {
  try {
    const read = JSON.parse(text) as { readonly format?: unknown; readonly state?: SessionState } | null;
    const isKnown = read?.format === format && typeof read.state?.agents === 'object';
    return isKnown && read.state ? stateOfSnapshot(read.state) : undefined;
  } catch {
    return undefined;
  }
}
