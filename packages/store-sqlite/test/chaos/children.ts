import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { LogRecord } from '@groundcrew/store';
import { build } from 'esbuild';
import { openSqliteStore, type SqliteStore } from '../../src/store.js';
import type { ChildTask } from './task.js';

/** One line a child has said. */
export interface ChildLine {
  readonly acknowledged?: number;
  readonly refused?: string;
  readonly longestDelay?: number;
  readonly busyRetries?: number;
}

/** A real process that works on a store. */
export interface Child {
  readonly process: ChildProcess;
  /** Everything it says, to the end of the process. */
  readonly lines: AsyncIterableIterator<ChildLine>;
  /** Its next line. */
  next(): Promise<ChildLine>;
}

/** A home of its own and the means to run processes on it. */
export interface Chaos {
  readonly home: string;
  readonly file: string;
  start(task: Omit<ChildTask, 'file' | 'runDirectory'>, wrapper?: readonly string[]): Child;
  open(options?: { readonly busyLimit?: number }): SqliteStore;
  /** All records of the session, read by a store of this process. */
  read(sessionId: string): Promise<readonly LogRecord[]>;
  close(): void;
}

/** Bundles the child as the shipped program is bundled, so that the way SQLite is loaded is examined too. */
export async function bundleChild(options: { readonly failpoints: boolean }): Promise<string> {
  const outfile = join(mkdtempSync(join(tmpdir(), 'groundcrew-child-')), 'child.cjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./child.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    minifySyntax: true,
    external: ['@groundcrew/sqlite-node20'],
    define: { __FAILPOINTS__: String(options.failpoints), 'import.meta.filename': '__filename' },
    logOverride: { 'empty-import-meta': 'error' },
  });
  return outfile;
}

/** Makes an empty home for the children of the bundled program. */
export function makeChaos(program: string): Chaos {
  const home = mkdtempSync(join(tmpdir(), 'groundcrew-chaos-'));
  const place = { file: join(home, 'sessions.db'), runDirectory: join(home, 'run') };
  const open: Chaos['open'] = (options) => openSqliteStore({ ...place, ...options });
  return {
    home,
    file: place.file,
    open,
    start: (task, wrapper = []) => startChild([...wrapper, process.execPath, program], { ...place, ...task }),
    read: async (sessionId) => {
      const store = open();
      const records: LogRecord[] = [];
      for await (const batch of store.read(sessionId)) records.push(...batch);
      await store.close();
      return records;
    },
    close: () => rmSync(home, { recursive: true }),
  };
}

function startChild([command = '', ...words]: readonly string[], task: ChildTask): Child {
  const packages = resolve(import.meta.dirname, '../../../../node_modules');
  const child = spawn(command, [...words, JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, NODE_PATH: packages },
  });
  const lines = parseLines(child);
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The child process ended early');
    return value;
  };
  return { process: child, lines, next };
}

async function* parseLines(child: ChildProcess): AsyncIterableIterator<ChildLine> {
  if (!child.stdout) return;
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as ChildLine;
  await ended;
}
