import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The workspaces that are published. */
const published = ['groundcrew', '@groundcrew/sdk', '@groundcrew/sqlite-node20', '@groundcrew/testing'];

const repository = join(import.meta.dirname, '..');

/** An empty project into which the packed packages are installed, as a reader of the quickstart does it. */
export class PackedProject implements Disposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'groundcrew-packed-'));

  /** Packs, which builds, and installs. Where Node has SQLite, npm leaves the package for it out. */
  constructor() {
    const pack = [
      'pack',
      '--json',
      '--pack-destination',
      this.folder,
      ...published.flatMap((name) => ['-w', name]),
    ];
    const packed = JSON.parse(run('npm', pack, repository)) as readonly { name: string; filename: string }[];
    const files = new Map(packed.map(({ name, filename }) => [name, `file:${filename}`]));
    const { '@groundcrew/sqlite-node20': sqlite, ...dependencies } = Object.fromEntries(files);
    const overrides = { '@groundcrew/sqlite-node20': `${sqlite}`.replace('file:', `file:${this.folder}/`) };
    writeFileSync(
      join(this.folder, 'package.json'),
      JSON.stringify({ private: true, dependencies, overrides }),
    );
    run('npm', ['install'], this.folder);
  }

  /** Runs a program in the project; what it says on stdout. Throws with all of it when it fails. */
  run(program: string, ...words: readonly string[]): string {
    return run(program, words, this.folder);
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function run(program: string, words: readonly string[], cwd: string): string {
  return execFileSync(program, words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}
