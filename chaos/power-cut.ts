import { spawnSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Three 64-bit numbers: offset, length, size of the file before. */
const headerBytes = 24;

interface Note {
  readonly offset: number;
  readonly bytes: Buffer;
  readonly sizeBefore: number;
}

/** Compiles the library that notes what is not synced; undefined where there is no C compiler. */
export function buildPowerCut(folder: string): Readonly<Record<string, string>> | undefined {
  if (process.platform !== 'linux') return undefined;
  const source = fileURLToPath(new URL('./power-cut.c', import.meta.url));
  const library = join(folder, 'power-cut.so');
  const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-w', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  });
  if (built.error) return undefined;
  if (built.status !== 0) throw new Error(`power-cut.c does not compile: ${built.stderr}`);
  return { LD_PRELOAD: library };
}

/** Takes back all that was written to the stores of a home and not synced; returns how many writes that were. */
export function cutPower(home: string): number {
  let lost = 0;
  for (const name of readdirSync(home)) {
    if (name.endsWith('-shm')) rmSync(join(home, name));
    if (!name.endsWith('.undo')) continue;
    const notes = readNotes(readFileSync(join(home, name)));
    undo(join(home, name.slice(0, -'.undo'.length)), notes);
    rmSync(join(home, name));
    lost += notes.length;
  }
  return lost;
}

function readNotes(journal: Buffer): readonly Note[] {
  const notes: Note[] = [];
  let at = 0;
  while (at + headerBytes <= journal.length) {
    const number = (field: number) => Number(journal.readBigUInt64LE(at + field * 8));
    const start = at + headerBytes;
    notes.push({
      offset: number(0),
      bytes: journal.subarray(start, start + number(1)),
      sizeBefore: number(2),
    });
    at = start + number(1);
  }
  return notes;
}

/** The newest write is taken back first. */
function undo(file: string, notes: readonly Note[]): void {
  const handle = openSync(file, 'r+');
  for (const { offset, bytes, sizeBefore } of notes.toReversed()) {
    writeSync(handle, bytes, 0, bytes.length, offset);
    ftruncateSync(handle, sizeBefore);
  }
  closeSync(handle);
}
