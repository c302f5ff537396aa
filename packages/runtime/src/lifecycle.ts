import type { SessionHead } from '@groundcrew/store';
import type { SessionState } from './log/state.js';

/** What all clients learn of a session that came, changed or went. */
export interface Lifecycle {
  readonly type: 'session.created' | 'session.updated' | 'session.deleted';
  readonly sessionId: string;
  readonly metadata?: {
    readonly startTime: string;
    readonly modifiedTime: string;
    readonly summary?: string;
    /** What no live node has that it needs. */
    readonly waitingOn?: readonly unknown[];
  };
}

/** What clients learn of a session in its lifecycle. */
export function metadataOf(state: SessionState): NonNullable<Lifecycle['metadata']> {
  const summary = state.fixed.name ?? state.summary;
  return {
    startTime: state.createdAt,
    modifiedTime: state.modifiedAt,
    ...(summary !== undefined && { summary }),
  };
}

/** The same of a session that is not in memory. */
export function metadataOfHead({
  createdAt,
  modifiedAt,
  name,
  summary,
}: SessionHead): NonNullable<Lifecycle['metadata']> {
  const title = name ?? summary;
  return {
    startTime: createdAt,
    modifiedTime: modifiedAt,
    ...(title !== undefined && { summary: title }),
  };
}
