import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Something with a place right in a temporary directory. */
export interface TemporaryTop {
  /** Where the host has it. */
  readonly path: string;
  readonly name: string;
  readonly isDirectory: boolean;
}

/**
 * The temporary directories of one session's sandbox. The next command finds what the last one left. A mount point
 * is never made in a directory that commands have used, where a link may stand in its place: a new one is taken then.
 */
export class PrivateTemp {
  private readonly known = new Map<
    string,
    { readonly source: string; readonly names: ReadonlySet<string> }
  >();
  private made = 0;

  /** The directory must be new, and used by this session only. */
  constructor(private readonly directory: () => string) {}

  /** What stands for a temporary directory of the system, with these places in it. */
  take(path: string, tops: readonly TemporaryTop[]): string {
    const before = this.known.get(path);
    if (before && tops.every(({ name }) => before.names.has(name))) return before.source;
    const source = join(this.directory(), String(this.made++));
    mkdirSync(source, { mode: 0o700 });
    for (const { name, isDirectory } of tops) {
      if (isDirectory) mkdirSync(join(source, name), { mode: 0o700 });
      else writeFileSync(join(source, name), '', { mode: 0o600, flag: 'wx' });
    }
    this.known.set(path, { source, names: new Set(tops.map(({ name }) => name)) });
    return source;
  }
}
