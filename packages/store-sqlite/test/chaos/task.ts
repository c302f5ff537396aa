import type { LogRecord } from '@groundcrew/store';
import type { SqliteMode } from '../../src/store-file.js';

/** What a child process is asked to do, as one JSON argument. */
export interface ChildTask {
  readonly file: string;
  readonly runDirectory: string;
  readonly mode: SqliteMode;
  readonly sessionId: string;
  /** `flood` appends until killed; `write` appends `count` records; `order` appends as stdin says. */
  readonly task: 'flood' | 'write' | 'order';
  readonly count?: number;
  /** Kills the process at the n-th write step of the store. */
  readonly killAt?: number;
}

/** What a child writes at `seq`, so that a reader can distinguish loss from damage. */
export function recordAt(seq: number): LogRecord {
  return {
    seq,
    isPublic: true,
    type: 'test.record',
    json: JSON.stringify({ seq, body: 'b'.repeat(seq % 700) }),
  };
}
