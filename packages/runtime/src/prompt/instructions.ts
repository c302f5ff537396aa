import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { isAbsent } from '../workspace/absent.js';
import { readInstructionFields, split } from './instruction-fields.js';
import {
  filesIn,
  type InstructionLocation,
  type InstructionPlace,
  type InstructionType,
} from './instruction-files.js';

/** One file of instructions, as it stands now. */
export interface InstructionSource {
  readonly id: string;
  readonly label: string;
  readonly sourcePath: string;
  readonly content: string;
  readonly type: InstructionType;
  readonly location: InstructionLocation;
  /** The files it holds for; absent: all. */
  readonly applyTo?: readonly string[];
  readonly description?: string;
}

/** What was found, and what could not be used. */
export interface Instructions {
  readonly sources: readonly InstructionSource[];
  readonly warnings: readonly string[];
}

/** What stands in no file says nothing. */
export const noInstructions: Instructions = { sources: [], warnings: [] };

/** Longer files are cut: they would fill the window of the model, at every call. */
const longestInstructions = 64 * 1024;
/** All files together. */
const mostInstructions = 256 * 1024;

/** Files that stand in directories of instructions, of all directories together: more of them hold up all other sessions. */
const mostFiles = 200;

/** Reads the instructions that users and projects keep in files; what has not changed is not read again. */
export class InstructionReader {
  private known = new Map<string, Known>();
  private last: Instructions = noInstructions;

  /** Synchronous: a handful of small local look-ups take less time than one trip to the thread pool. */
  read(places: readonly InstructionPlace[]): Instructions {
    const found = new Map<string, Known>();
    const roots = new Map<string, string>();
    let left = mostFiles;
    for (const place of places) {
      const paths = filesIn(place);
      const taken = place.kind === 'file' ? paths : paths.slice(0, left);
      if (place.kind === 'directory') left -= taken.length;
      for (const path of taken) {
        const known = this.readOne(path, place, roots);
        if (known && !found.has(known.path)) found.set(known.path, known);
      }
      if (taken.length < paths.length) found.set(place.path, leftOut(place, paths.length - taken.length));
    }
    this.known = found;
    const now = bounded([...found.values()]);
    // The same object as long as nothing has changed: the prompt is not written again.
    if (!areAlike(now, this.last)) this.last = now;
    return this.last;
  }

  private readOne(named: string, from: InstructionPlace, roots: Map<string, string>): Known | undefined {
    try {
      const path = realpathSync(named);
      const root = roots.get(from.root) ?? realpathSync(from.root);
      roots.set(from.root, root);
      if (!isInside(path, root))
        return { path: named, warning: `${named} is left out: it leads out of ${from.root}` };
      const before = this.known.get(path);
      if (before?.source?.sourcePath === named && before.state === stateOf(statSync(path, { bigint: true })))
        return before;
      const readAt = Date.now();
      const { text, stats, isCut } = readText(path);
      const cut = `${named} is longer than ${longestInstructions} bytes: the rest is left out`;
      return {
        path,
        source: sourceOf(text, named, from),
        ...(isSettled(stats, readAt) && { state: stateOf(stats) }),
        ...(isCut && { warning: cut }),
      };
    } catch (error) {
      if (isAbsent(error)) return undefined;
      const reason = error instanceof Error ? error.message : String(error);
      return { path: named, warning: `${named} is left out: ${reason}` };
    }
  }
}

function leftOut({ path }: InstructionPlace, count: number): Known {
  return {
    path,
    warning: `${count} files of ${path} are left out: at most ${mostFiles} files of instructions are read`,
  };
}

/** What a file was when it was read. */
interface Known {
  readonly path: string;
  readonly source?: InstructionSource;
  readonly warning?: string;
  /** Absent while it may still change unseen. */
  readonly state?: string;
}

/** Clocks of file systems are coarse: a file that changed just before it was read may have changed since. */
const coarsestClock = 100;

function isSettled({ ctimeMs }: BigIntStats, readAt: number): boolean {
  return Number(ctimeMs) < readAt - coarsestClock;
}

function stateOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** No pipe or device is waited for, and no more is read than is used. */
function readText(path: string) {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stats = fstatSync(file, { bigint: true });
    if (!stats.isFile()) throw new Error('it is no file');
    const room = Buffer.alloc(Math.min(Number(stats.size), longestInstructions));
    const bytes = room.subarray(0, readSync(file, room, 0, room.length, 0));
    if (bytes.includes(0)) throw new Error('it is no text');
    const isCut = Number(stats.size) > longestInstructions;
    return { text: decoded(bytes, isCut), stats, isCut };
  } finally {
    closeSync(file);
  }
}

function decoded(bytes: Uint8Array, isCut: boolean): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: isCut });
  } catch {
    throw new Error('it is no text in UTF-8');
  }
}

function sourceOf(text: string, named: string, from: InstructionPlace): InstructionSource {
  const { type, location } = from;
  const { fields, body } = type === 'vscode' ? readInstructionFields(text) : { fields: {}, body: text };
  const patterns = (fields.applyTo ?? []).flatMap(split);
  const description = fields.description?.[0];
  return {
    id: named,
    label: relative(from.root, named).split(sep).join('/'),
    sourcePath: named,
    content: body.trim(),
    type,
    location,
    ...(patterns.length > 0 && { applyTo: patterns }),
    ...(description !== undefined && { description }),
  };
}

/** As many as there is room for, in their order. */
function bounded(known: readonly Known[]): Instructions {
  const sources: InstructionSource[] = [];
  const warnings = known.flatMap(({ warning }) => warning ?? []);
  let room = mostInstructions;
  for (const { source } of known) {
    if (!source || source.content === '') continue;
    if (source.content.length > room) {
      warnings.push(
        `${source.sourcePath} is left out: all instructions together are longer than ${mostInstructions} characters`,
      );
      continue;
    }
    room -= source.content.length;
    sources.push(source);
  }
  return { sources, warnings };
}

function areAlike(one: Instructions, other: Instructions): boolean {
  const { sources, warnings } = other;
  return (
    one.sources.length === sources.length &&
    one.sources.every((source, index) => isSame(source, sources[index])) &&
    one.warnings.join() === warnings.join()
  );
}

function isSame(one: InstructionSource, other: InstructionSource | undefined): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}
