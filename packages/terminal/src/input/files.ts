import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** More are not looked for: a list of this length is searched between two keys. */
const mostFiles = 150_000;
const skipped = new Set(['.git', 'node_modules', '.hg', '.svn', 'dist', 'target', '__pycache__', '.venv']);
const freshFor = 10_000;

/** The files below a directory, for completion: read when first wanted, and again when they are old. */
export class FileList {
  private files: readonly Known[] = [];
  private readAt = Number.NEGATIVE_INFINITY;
  private reading: Promise<void> | undefined;

  constructor(
    readonly directory: string,
    private readonly onRead: () => void,
  ) {}

  /** What is known now; more may come. */
  matches(wanted: string, most: number): readonly string[] {
    if (Date.now() - this.readAt > freshFor) this.reading ??= this.read();
    return bestMatches(this.files, wanted, most);
  }

  private async read(): Promise<void> {
    const found: string[] = [];
    const open = [''];
    for (let folder = open.shift(); folder !== undefined && found.length < mostFiles; folder = open.shift()) {
      const entries = await readdir(join(this.directory, folder), { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        if (unwritable.test(entry.name)) continue;
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory() && !skipped.has(entry.name)) {
          open.push(path);
          found.push(`${path}/`);
        } else if (entry.isFile()) found.push(path);
        // Links may lead around in a circle: they are offered, not entered.
        else if (entry.isSymbolicLink()) found.push(...(await this.linked(path)));
      }
    }
    this.files = found.map((path) => ({ path, lower: path.toLowerCase() }));
    this.readAt = Date.now();
    this.reading = undefined;
    this.onRead();
  }

  private async linked(path: string): Promise<readonly string[]> {
    const target = await stat(join(this.directory, path)).catch(() => undefined);
    if (target?.isDirectory()) return [`${path}/`];
    return target?.isFile() ? [path] : [];
  }
}

/** No such name can be written on a line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unwritable = /[\u0000-\u001f\u007f]/;

interface Known {
  readonly path: string;
  readonly lower: string;
}

interface Rated {
  readonly path: string;
  readonly rank: number;
}

/** Those that contain the wanted letters in order, the closest first. Only the best are sorted: there may be very many. */
function bestMatches(all: readonly Known[], wanted: string, most: number): readonly string[] {
  const needle = wanted.toLowerCase();
  const best: Rated[] = [];
  for (const { path, lower } of all) {
    const rank = rankOf(lower, needle);
    const last = best.at(-1);
    if (rank === undefined || (best.length === most && last && !isBefore({ path, rank }, last))) continue;
    const at = best.findIndex((other) => isBefore({ path, rank }, other));
    best.splice(at < 0 ? best.length : at, 0, { path, rank });
    if (best.length > most) best.pop();
  }
  return best.map(({ path }) => path);
}

function isBefore(one: Rated, other: Rated): boolean {
  return one.rank < other.rank || (one.rank === other.rank && one.path.length < other.path.length);
}

function rankOf(path: string, needle: string): number | undefined {
  if (needle === '') return path.split('/').length;
  if (path.startsWith(needle)) return 0;
  const end = path.endsWith('/') ? path.length - 2 : path.length - 1;
  if (path.startsWith(needle, path.lastIndexOf('/', end) + 1)) return 1;
  if (path.includes(needle)) return 2;
  let at = -1;
  for (const letter of needle) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) return undefined;
  }
  return 3;
}
