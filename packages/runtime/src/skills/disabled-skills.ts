import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeWholeFile } from '@groundcrew/store';

/** The names that the user has switched off for all sessions of a home: a file there. */
export class DisabledSkills {
  private readonly path: string;
  private known: { readonly stamp: string; readonly names: readonly string[] } | undefined;

  constructor(private readonly home: string) {
    this.path = join(home, 'skills-config.json');
  }

  /** Reads the file as it is now; empty where there is none. A file that cannot be read disables nothing. */
  read(): readonly string[] {
    const stats = statSync(this.path, { throwIfNoEntry: false, bigint: true });
    const stamp = stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : '';
    if (this.known?.stamp === stamp) return this.known.names;
    const names = stamp === '' ? [] : namesIn(this.path);
    this.known = { stamp, names };
    return names;
  }

  /** There is always a whole file in its place. */
  write(names: readonly string[]): void {
    mkdirSync(this.home, { recursive: true, mode: 0o700 });
    const text = JSON.stringify({ disabledSkills: [...new Set(names)].sort() }, undefined, 2);
    writeWholeFile(this.path, `${text}\n`);
  }
}

function namesIn(path: string): readonly string[] {
  try {
    const { disabledSkills } = JSON.parse(readFileSync(path, 'utf8')) as { disabledSkills?: unknown };
    return Array.isArray(disabledSkills) ? disabledSkills.filter((name) => typeof name === 'string') : [];
  } catch {
    // Skills widen no permission: one that is offered although the file is broken does no harm.
    return [];
  }
}
