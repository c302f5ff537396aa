import {
  checksumOf,
  fromColumn,
  hashOf,
  type LogRecord,
  parseHead,
  type SessionHead,
  toColumn,
} from '@groundcrew/store';

/** Bodies above this many characters are kept once per session, out of line. */
const longestInline = 64 * 1024;

/** Text that a column can hold; what no column can is only ever compared with itself. */
export function columnText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}

/** The columns that queries ask for, and the whole head; `headValues` gives their values in the same order. */
export const headColumns =
  'has_work, user_turns, modified_at, cwd, git_root, repository, branch, due_at, head';

/** In the order of `headColumns`. */
export function headValues(head: SessionHead): readonly (string | number | boolean | null)[] {
  const { cwd, gitRoot, repository, branch } = head.context;
  const optional = [gitRoot, repository, branch].map((text) =>
    text === undefined ? null : columnText(text),
  );
  return [
    head.hasWork,
    head.userTurns,
    columnText(head.modifiedAt),
    columnText(cwd),
    ...optional,
    dueAtOf(head),
    JSON.stringify(head),
  ];
}

/** A time that a column can hold. */
function dueAtOf({ dueAt }: SessionHead): number | null {
  return dueAt === undefined ? null : Math.round(Math.min(Math.max(dueAt, 0), Number.MAX_SAFE_INTEGER));
}

/** A head as a row has it. */
export interface HeadRow {
  readonly has_work: boolean;
  readonly user_turns: number;
  readonly modified_at: string;
  readonly cwd: string;
  readonly git_root: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly due_at: number | null;
  readonly head: string;
}

/** The head of a row. When its text cannot be read the columns speak for it: the next append writes it anew. */
export function readHead(row: HeadRow, onUnreadable: () => void): SessionHead {
  try {
    return parseHead(row.head);
  } catch {
    onUnreadable();
    return headFromColumns(row);
  }
}

function headFromColumns(row: HeadRow): SessionHead {
  return {
    createdAt: row.modified_at,
    modifiedAt: row.modified_at,
    hasWork: row.has_work,
    userTurns: row.user_turns,
    eventCount: 0,
    snapshotSeq: 0,
    ...(row.due_at !== null && { dueAt: row.due_at }),
    context: {
      cwd: row.cwd,
      ...(row.git_root !== null && { gitRoot: row.git_root }),
      ...(row.repository !== null && { repository: row.repository }),
      ...(row.branch !== null && { branch: row.branch }),
    },
  };
}

/** The records of several sessions as the columns of two tables, for `unnest`; `ord` says whose each is. */
export class RecordColumns {
  readonly #records: unknown[][] = Array.from({ length: 8 }, () => []);
  readonly #bodies: unknown[][] = Array.from({ length: 4 }, () => []);
  readonly #known = new Set<string>();

  add(ord: number, records: readonly LogRecord[]): void {
    for (const record of records) {
      const stored = toColumn(record.json);
      const isInline = record.json.length <= longestInline;
      const body = isInline ? null : this.#addBody(ord, stored);
      const text = isInline ? split(stored) : [null, null];
      const type = columnText(record.type);
      const checksum = checksumOf({ ...record, type });
      push(this.#records, [ord, record.seq, record.isPublic, type, checksum, ...text, body]);
    }
  }

  /** In the order of the parameters of `insertRecords`. */
  get values(): readonly unknown[][] {
    return [...this.#records, ...this.#bodies];
  }

  #addBody(ord: number, stored: string | Uint8Array): Buffer {
    const hash = Buffer.from(hashOf(stored));
    const key = `${ord} ${hash.toString('base64')}`;
    if (!this.#known.has(key)) push(this.#bodies, [ord, hash, ...split(stored)]);
    this.#known.add(key);
    return hash;
  }
}

/** The parts of a statement that insert records for the rows of `owners(number, ord)`; parameters from `first` on. */
export function insertRecords(owners: string, first: number): string {
  const parameter = (offset: number, type: string) => `$${first + offset}::${type}[]`;
  const list = (types: readonly string[], offset = 0) =>
    types.map((type, index) => parameter(offset + index, type)).join(', ');
  return `record AS (
      INSERT INTO gc_record (session, seq, is_public, type, checksum, json, raw, body)
      SELECT o.number, r.seq, r.is_public, r.type, r.checksum, r.json, r.raw, r.body
      FROM unnest(${list(['bigint', 'bigint', 'boolean', 'text', 'bigint', 'text', 'bytea', 'bytea'])})
        AS r(ord, seq, is_public, type, checksum, json, raw, body) JOIN ${owners} o ON o.ord = r.ord),
    body AS (
      INSERT INTO gc_body (session, hash, json, raw) SELECT o.number, b.hash, b.json, b.raw
      FROM unnest(${list(['bigint', 'bytea', 'text', 'bytea'], 8)}) AS b(ord, hash, json, raw)
      JOIN ${owners} o ON o.ord = b.ord ON CONFLICT DO NOTHING)`;
}

/** A record as it is selected, its body already in place. */
export interface RecordRow {
  readonly seq: number;
  readonly is_public: boolean;
  readonly type: string;
  readonly checksum: number;
  readonly json: string | null;
  readonly raw: Buffer | null;
}

/** The record, or what is wrong with it. */
export function toRecord(row: RecordRow): LogRecord | string {
  const stored = row.json ?? row.raw;
  if (stored === null) return `the body of record ${row.seq} is missing`;
  const record = { seq: row.seq, isPublic: row.is_public, type: row.type, json: fromColumn(stored) };
  return checksumOf(record) === row.checksum ? record : `record ${row.seq} is not what was written`;
}

/** As columns `json` and `raw` have it. */
function split(stored: string | Uint8Array): [string | null, Uint8Array | null] {
  return typeof stored === 'string' ? [stored, null] : [null, stored];
}

function push(columns: readonly unknown[][], row: readonly unknown[]): void {
  for (const [index, column] of columns.entries()) column.push(row[index]);
}
