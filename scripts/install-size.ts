/** Packs what is published, installs it into an empty project and says what weighs what: `npm run size`. */
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PackedProject } from './packed-project.js';

using project = new PackedProject();
report(join(project.folder, 'node_modules'));

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
