import { randomUUID } from 'node:crypto';
import { openSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a child is given under the number of its place. */
export type Stream = 'ignore' | 'pipe' | 'ipc' | number;

/** Puts a file in the place of every descriptor that a child would inherit besides its streams. */
export function covering(
  streams: readonly Stream[],
  { inherited, cover }: { readonly inherited: readonly number[]; readonly cover: number },
): Stream[] {
  const covered = inherited.filter((descriptor) => descriptor >= streams.length);
  const length = Math.max(streams.length, ...covered.map((descriptor) => descriptor + 1));
  return Array.from({ length }, (_, index) => streams[index] ?? (covered.includes(index) ? cover : 'ignore'));
}

/** Those that children of this process would have too: Node opens none of that kind. */
export function inheritedDescriptors(): readonly number[] {
  const own = '/proc/self/fdinfo';
  return readdirSync(own)
    .map(Number)
    .filter((descriptor) => descriptor > 2 && isInherited(join(own, String(descriptor))));
}

function isInherited(file: string): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)/m.exec(readFileSync(file, 'utf8'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closedOnStart) === 0;
  } catch {
    // It was the one by which the directory was read.
    return false;
  }
}

/** `O_CLOEXEC`, of which Node has no name. */
const closedOnStart = 0o2000000;

/** A file that only its descriptor leads to: arguments in it appear in no list of processes. */
export function namelessFile(content: string | Buffer): number {
  const path = join(tmpdir(), `groundcrew-sandbox-${randomUUID()}`);
  writeFileSync(path, content, { mode: 0o600, flag: 'wx' });
  try {
    return openSync(path, 'r');
  } finally {
    unlinkSync(path);
  }
}
