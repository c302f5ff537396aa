import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { HeldDirectory, nameOf, parentOf } from './directory.js';
import { locate, openPlace, type Place } from './paths.js';

/** What a place holds now. */
export type FileNow =
  | { readonly type: 'absent' }
  | {
      readonly type: 'file';
      readonly content: Buffer;
      readonly mode: number;
      readonly uid: number;
      readonly gid: number;
    }
  /** A directory or something else stands there, or a link leads elsewhere. */
  | { readonly type: 'other' };

/** What a file is to be again. */
export type FileWanted =
  | { readonly type: 'absent' }
  | { readonly type: 'file'; readonly content: Buffer; readonly mode: number };

/** Larger files are none that tools write. */
const largestBytes = 64 * 1024 * 1024;

/** What is at a real path, without following links that were put in its way since. */
export async function readNow(real: string): Promise<FileNow> {
  const place = await placeOf(real);
  if (place.real !== real) return { type: 'other' };
  if (place.kind === 'missing') return { type: 'absent' };
  if (place.kind !== 'file') return { type: 'other' };
  const handle = await openPlace(place);
  try {
    const { size, mode, uid, gid } = await handle.stat();
    if (size > largestBytes) return { type: 'other' };
    return { type: 'file', content: await handle.readFile(), mode: mode & 0o7777, uid, gid };
  } finally {
    await handle.close();
  }
}

/** Puts a file back, whole or not at all; `now` is what was found there. */
export async function putBack(real: string, wanted: FileWanted, now: FileNow): Promise<void> {
  if (now.type === 'other') throw new Error(`${real} is no file any more`);
  if (wanted.type === 'file' && now.type === 'absent') await mkdir(dirname(real), { recursive: true });
  const place = { ...(await placeOf(real)), kind: 'file' as const };
  if (place.real !== real) throw new Error(`A link stands in the way to ${real}`);
  await HeldDirectory.use(parentOf(place), async (directory) => {
    if (wanted.type === 'absent') return directory.remove(nameOf(place));
    const { uid, gid } =
      now.type === 'file' ? now : { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
    return directory.replace(nameOf(place), wanted.content, { mode: wanted.mode, uid, gid });
  });
}

function placeOf(real: string): Promise<Place> {
  return locate(real, { workingDirectory: '/', allowedDirectories: [] });
}
