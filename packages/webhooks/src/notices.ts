import { createHash } from 'node:crypto';
import type { WaitKind, WebhookEvent } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';

/** What a webhook says about a session: ids and reasons, and no content. */
export interface Notice {
  readonly type: WebhookEvent;
  readonly timestamp: string;
  /** Where in the log it stands. */
  readonly seq: number;
  readonly reason: NoticeReason;
}

export type NoticeReason =
  | { readonly kind: WaitKind; readonly requestId: string }
  | { readonly kind: 'completed' | 'aborted' | 'error' }
  | { readonly kind: 'failed'; readonly errorType: string; readonly statusCode?: number };

type Outcome = 'completed' | 'aborted' | 'error';

/** Whether a turn begins with one of the records: what came before says nothing of how it ends. */
export function hasTurnStart(records: readonly LogRecord[]): boolean {
  return records.some(({ type }) => type === turnStart);
}

const turnStart = 'assistant.turn_start';

/** Makes notices from a session's log, record by record: a notice is sent only for what was stored. */
export class NoticeReader {
  #outcome: Outcome = 'completed';
  #ending: Pick<Notice, 'timestamp' | 'seq'> | undefined;

  /** The notices of these records; `hasWork` is of the head that was written with the last of them. */
  read(records: readonly LogRecord[], hasWork: boolean): readonly Notice[] {
    const notices = records.flatMap((record) => this.#noticeOf(record) ?? []);
    if (hasWork || !this.#ending) return notices;
    const ended: Notice = { type: 'session.ended', ...this.#ending, reason: { kind: this.#outcome } };
    this.#ending = undefined;
    return [...notices, ended];
  }

  /**
   * Takes up what the records before say of the turn that is open; no notice is made of them. `isOpen`: they are the last, and
   * the session had work left with them, so that a notice of its end is still due.
   */
  recall(records: readonly LogRecord[], { isOpen }: { readonly isOpen: boolean }): void {
    for (const record of records) this.#noticeOf(record);
    if (!isOpen) this.#ending = undefined;
  }

  #noticeOf(record: LogRecord): Notice | undefined {
    const { type, seq } = record;
    if (type === turnStart) this.#outcome = 'completed';
    if (endings.has(type)) {
      if (type === 'abort') this.#outcome = 'aborted';
      if (type === 'session.error') this.#outcome = 'error';
      this.#ending = { seq, timestamp: eventOf(record).timestamp ?? new Date().toISOString() };
    }
    if (type === 'session.error') return failure(record);
    return Object.hasOwn(waits, type) ? waiting(record) : undefined;
  }
}

const endings: ReadonlySet<string> = new Set(['assistant.turn_end', 'abort', 'session.error']);

/** Records of questions that wait for an answer; a note names its own kind. */
const waits: Readonly<Record<string, WaitKind | 'of-note'>> = {
  'permission.requested': 'permission',
  'external_tool.requested': 'external_tool',
  'question.asked': 'user_input',
  'question.opened': 'of-note',
  'limits.asked': 'session_limits',
};

interface StoredEvent {
  readonly timestamp?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly [name: string]: unknown;
}

function eventOf({ json }: LogRecord): StoredEvent {
  return JSON.parse(json) as StoredEvent;
}

function waiting(record: LogRecord): Notice | undefined {
  const event = eventOf(record);
  const { requestId, resolvedByHook, kind } = record.isPublic ? (event.data ?? {}) : event;
  if (typeof requestId !== 'string' || resolvedByHook === true) return undefined;
  const of = waits[record.type];
  return {
    type: 'session.waiting',
    seq: record.seq,
    timestamp: event.timestamp ?? new Date().toISOString(),
    reason: { kind: of === 'of-note' || of === undefined ? (kind as WaitKind) : of, requestId },
  };
}

function failure(record: LogRecord): Notice {
  const { timestamp = new Date().toISOString(), data = {} } = eventOf(record);
  const { errorType, statusCode } = data;
  return {
    type: 'session.error',
    seq: record.seq,
    timestamp,
    reason: {
      kind: 'failed',
      errorType: typeof errorType === 'string' ? errorType : 'unknown',
      ...(typeof statusCode === 'number' && { statusCode }),
    },
  };
}

/** The same notice has the same id, whichever process reads the log; a later session of the same name has other ids. */
export function idOf(
  notice: Notice,
  session: { readonly sessionId: string; readonly createdAt: string },
): string {
  const parts = [session.sessionId, session.createdAt, notice.type, notice.seq];
  return `msg_${createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 32)}`;
}
