import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isWithin } from '../workspace/paths.js';
import type { ReadCommand } from './commands.js';
import { hooksOf } from './git-place.js';

/** By the name of a command, a short form of what it ran when that was looked up. */
export type Definitions = Readonly<Record<string, string>>;

/**
 * What the project says that the commands of a line run: scripts, targets, hooks. An approval of `npm test` is for what that
 * runs when it is given; whoever changes it afterwards, by whatever means, has it asked about again.
 */
export async function definitionsOf(
  commands: readonly ReadCommand[],
  { bases, workingDirectory }: { readonly bases: readonly string[]; readonly workingDirectory: string },
): Promise<Definitions> {
  const places = [...new Set(bases.flatMap((base) => upwards(base, workingDirectory)))];
  const found = await Promise.all(
    commands.map(async (command) => [command.identifier, await definedBy(command, places)] as const),
  );
  return Object.fromEntries(found.flatMap(([name, texts]) => (texts ? [[name, shortForm(texts)]] : [])));
}

/** Whether what an approval was given for is still what would run. */
export function isStillSo(approved: unknown, name: string, now: Definitions): boolean {
  if (typeof approved !== 'object' || approved === null || !Object.hasOwn(approved, name)) return true;
  return (approved as Definitions)[name] === now[name];
}

async function definedBy(
  { call, words: [name = ''] }: ReadCommand,
  places: readonly string[],
): Promise<readonly string[] | undefined> {
  if (call?.git) return call.role === 'reads' ? undefined : hooksOf(places);
  const names = files.get(basename(name));
  if (!names) return undefined;
  const paths = places.flatMap((place) => names.map((each) => join(place, each)));
  return Promise.all(paths.map(async (path) => `${path}\0${definition(path, await textOf(path))}`));
}

/** Where each program looks for what it runs. */
const files: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'npm pnpm yarn bun': 'package.json',
    'make gmake': 'GNUmakefile makefile Makefile',
    just: 'justfile Justfile .justfile',
    rake: 'Rakefile rakefile',
    'gradle gradlew': 'build.gradle build.gradle.kts settings.gradle settings.gradle.kts',
    mvn: 'pom.xml',
    cargo: 'build.rs .cargo/config.toml',
  }).flatMap(([programs, names]) =>
    programs.split(' ').map((program) => [program, names.split(' ')] as const),
  ),
);

/** Of a package the scripts count: what it depends on changes with every installation. */
function definition(path: string, text: string | undefined): string {
  if (text === undefined) return '';
  if (basename(path) !== 'package.json') return text;
  try {
    const { scripts } = JSON.parse(text) as { readonly scripts?: unknown };
    return JSON.stringify(scripts ?? {});
  } catch {
    // What is no package is compared as it stands.
    return text;
  }
}

function upwards(start: string, root: string): readonly string[] {
  if (!isWithin(root, start) || start === root) return [start];
  return [start, ...upwards(dirname(start), root)];
}

async function textOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  return found.size > longestFile ? `${found.size} ${found.mtimeMs}` : readFile(path, 'utf8');
}

const longestFile = 1024 * 1024;

function shortForm(texts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(texts)).digest('base64url').slice(0, 22);
}
