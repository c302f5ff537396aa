/** Packs what is published, installs it into an empty project and says what weighs what: `npm run size`. */
import { execFileSync } from 'node:child_process';
import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const published = ['cli', 'sdk', 'sqlite-node20', 'testing'];

const repository = join(import.meta.dirname, '..');
const project = mkdtempSync(join(tmpdir(), 'groundcrew-size-'));

try {
  install();
  report(join(project, 'node_modules'));
} finally {
  rmSync(project, { recursive: true });
}

// npm takes the optional package from the override, as it would from a registry: its `engines` decide.
function install(): void {
  npm(['run', 'build'], repository);
  const [groundcrew, sdk, sqlite, testing] = published.map(pack);
  const manifest = {
    private: true,
    dependencies: { groundcrew, '@groundcrew/sdk': sdk, '@groundcrew/testing': testing },
    overrides: { '@groundcrew/sqlite-node20': sqlite },
  };
  writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
  npm(['install'], project);
}

function pack(folder: string): string {
  const output = npm(['pack', join(repository, 'packages', folder), '--json'], project);
  const [{ filename }] = JSON.parse(output) as [{ filename: string }];
  return `file:${join(project, filename)}`;
}

function npm(words: readonly string[], cwd: string): string {
  return execFileSync('npm', words, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function report(modules: string): void {
  const weights = packagesOf(modules).map((name) => ({ name, bytes: weigh(join(modules, name)) }));
  weights.sort((one, other) => other.bytes - one.bytes);
  for (const { name, bytes } of weights) print(bytes, name);
  print(
    weights.reduce((sum, { bytes }) => sum + bytes, 0),
    `in all, on Node ${process.versions.node}`,
  );
}

function packagesOf(modules: string): string[] {
  const names = readdirSync(modules).filter((name) => !name.startsWith('.'));
  return names.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(modules, name)).map((part) => `${name}/${part}`) : [name],
  );
}

/** Disk blocks, as `du` counts them. */
function weigh(path: string): number {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.blocks * 512;
  return readdirSync(path).reduce((sum, name) => sum + weigh(join(path, name)), stat.blocks * 512);
}

function print(bytes: number, name: string): void {
  process.stdout.write(`${(bytes / 2 ** 20).toFixed(1).padStart(6)} MB  ${name}\n`);
}
