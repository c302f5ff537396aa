import type { SessionFiles, SessionRows, SessionStatement, SessionTables } from '@groundcrew/sdk';
import type { Database } from '@groundcrew/store';
import { openDatabase } from '@groundcrew/store-sqlite';

/** The files of one session in the memory of an app. */
export class MemoryFiles implements SessionFiles {
  readonly texts = new Map<string, string>();
  readonly directories = new Set<string>();
  /** What was asked, in order. */
  readonly calls: string[] = [];
  /** Given to every call; what it throws is the answer. */
  before: (call: string, path: string) => void = () => undefined;

  constructor(readonly sqlite: MemoryTables = new MemoryTables()) {}

  /** Names of all files, less the directory they are in. */
  names(root: string): string[] {
    return [...this.texts.keys()].map((path) => path.replace(root, '')).sort();
  }

  async readFile(path: string): Promise<string> {
    this.note('readFile', path);
    const text = this.texts.get(path);
    if (text === undefined) throw missing(path);
    return text;
  }

  async writeFile(path: string, content: string): Promise<void> {
    this.note('writeFile', path);
    this.texts.set(path, content);
  }

  async appendFile(path: string, content: string): Promise<void> {
    this.note('appendFile', path);
    this.texts.set(path, (this.texts.get(path) ?? '') + content);
  }

  async exists(path: string): Promise<boolean> {
    this.note('exists', path);
    return this.texts.has(path) || this.isDirectory(path);
  }

  async stat(path: string) {
    this.note('stat', path);
    const text = this.texts.get(path);
    const isDirectory = text === undefined && this.isDirectory(path);
    if (text === undefined && !isDirectory) throw missing(path);
    const time = '2026-01-02T03:04:05.000Z';
    return {
      isFile: !isDirectory,
      isDirectory,
      size: Buffer.byteLength(text ?? ''),
      mtime: time,
      birthtime: time,
    };
  }

  async mkdir(path: string): Promise<void> {
    this.note('mkdir', path);
    this.directories.add(path);
  }

  async readdir(path: string) {
    this.note('readdir', path);
    if (!this.isDirectory(path)) throw missing(path);
    const inside = [...this.texts.keys(), ...this.directories].filter((each) => each.startsWith(`${path}/`));
    const names = new Set(inside.map((each) => each.slice(path.length + 1).split('/')[0] ?? ''));
    return [...names].map((name) => ({
      name,
      type: this.texts.has(`${path}/${name}`) ? ('file' as const) : ('directory' as const),
    }));
  }

  async rm(path: string): Promise<void> {
    this.note('rm', path);
    for (const each of [...this.texts.keys()])
      if (each === path || each.startsWith(`${path}/`)) this.texts.delete(each);
  }

  async rename(from: string, to: string): Promise<void> {
    this.note('rename', from);
    this.texts.set(to, this.texts.get(from) ?? '');
    this.texts.delete(from);
  }

  private note(call: string, path: string): void {
    this.calls.push(`${call} ${path}`);
    this.before(call, path);
  }

  private isDirectory(path: string): boolean {
    return (
      this.directories.has(path) ||
      [...this.texts.keys(), ...this.directories].some((each) => each.startsWith(`${path}/`))
    );
  }
}

/** The tables of one session in the memory of an app. */
export class MemoryTables implements SessionTables {
  readonly statements: string[] = [];
  private database: Database | undefined;

  async query(statement: SessionStatement): Promise<SessionRows> {
    return this.run(statement);
  }

  async transaction(statements: readonly SessionStatement[]): Promise<readonly SessionRows[]> {
    this.open().exec('BEGIN');
    try {
      const results = statements.map((statement) => this.run(statement));
      this.open().exec('COMMIT');
      return results;
    } catch (error) {
      this.open().exec('ROLLBACK');
      throw error;
    }
  }

  async exists(): Promise<boolean> {
    return this.database !== undefined;
  }

  close(): void {
    this.database?.close();
  }

  private run({ query, queryType }: SessionStatement): SessionRows {
    this.statements.push(`${queryType} ${query.replaceAll(/\s+/g, ' ').slice(0, 40)}`);
    if (queryType === 'exec') this.open().exec(query);
    if (queryType !== 'query') {
      const changes = queryType === 'run' ? this.open().prepare(query).run().changes : 0;
      return { columns: [], rows: [], rowsAffected: Number(changes) };
    }
    const rows = this.open().prepare(query).all() as Record<string, unknown>[];
    return { columns: Object.keys(rows[0] ?? {}), rows, rowsAffected: 0 };
  }

  private open(): Database {
    this.database ??= openDatabase(':memory:');
    return this.database;
  }
}

function missing(path: string): Error {
  return Object.assign(new Error(`no such file: ${path}`), { code: 'ENOENT' });
}
