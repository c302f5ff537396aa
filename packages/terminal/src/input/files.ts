import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

const mostFiles = 20_000;
const skipped = new Set(['.git', 'node_modules', '.hg', '.svn', 'dist', 'target', '__pycache__', '.venv']);
const freshFor = 10_000;

/** The files below a directory, for completion: read when first wanted, and again when they are old. */
export class FileList {
  private files: readonly string[] = [];
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
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory() && !skipped.has(entry.name)) {
          open.push(path);
          found.push(`${path}/`);
        } else if (entry.isFile()) found.push(path);
      }
    }
    this.files = found;
    this.readAt = Date.now();
    this.reading = undefined;
    this.onRead();
  }
}

/** Those that contain the wanted letters in order, the closest first. */
function bestMatches(all: readonly string[], wanted: string, most: number): readonly string[] {
  const needle = wanted.toLowerCase();
  const rated = all.flatMap((path) => {
    const rank = rankOf(path.toLowerCase(), needle);
    return rank === undefined ? [] : [{ path, rank }];
  });
  return rated
    .sort((one, other) => one.rank - other.rank || one.path.length - other.path.length)
    .slice(0, most)
    .map(({ path }) => path);
}

function rankOf(path: string, needle: string): number | undefined {
  if (needle === '') return path.split('/').length;
  const name = path.replace(/\/$/, '').slice(path.replace(/\/$/, '').lastIndexOf('/') + 1);
  if (path.startsWith(needle)) return 0;
  if (name.startsWith(needle)) return 1;
  if (path.includes(needle)) return 2;
  let at = -1;
  for (const letter of needle) {
    at = path.indexOf(letter, at + 1);
    if (at < 0) return undefined;
  }
  return 3;
}
