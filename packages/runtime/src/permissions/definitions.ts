import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isWithin } from '../workspace/paths.js';
import type { ReadCommand } from './command-rules.js';
import { gitDefinitions } from './git-place.js';
import { includedFiles } from './included-files.js';
import { looksForChanges } from './line-dependencies.js';
import { isWild, matchedNames } from './wildcards.js';

/** By the name of a command, a short form of what it ran when that was looked up. */
export type Definitions = Readonly<Record<string, string>>;

/**
 * What the project says that the commands of a line run: scripts, targets, hooks. An approval of `npm test` is for what that
 * runs when it is given; when it is changed afterwards, by whatever means, users are asked again.
 */
export async function definitionsOf(
  commands: readonly ReadCommand[],
  standing: { readonly bases: readonly string[]; readonly workingDirectory: string },
): Promise<Definitions> {
  const found = new Map<string, Set<string>>();
  for (const command of commands) {
    const texts = await definedBy(command, standing);
    if (!texts) continue;
    const forms = found.get(command.identifier) ?? new Set();
    found.set(command.identifier, forms.add(shortForm(texts)));
  }
  // One name may stand for several things in a line: all of them count.
  return Object.fromEntries([...found].map(([name, forms]) => [name, [...forms].sort().join(' ')]));
}

async function definedBy(
  { call, words }: ReadCommand,
  { bases, workingDirectory }: { readonly bases: readonly string[]; readonly workingDirectory: string },
): Promise<readonly string[] | undefined> {
  const program = basename(words[0] ?? '');
  // Looking for changes may write the index, and git runs a hook after that.
  const mayHook = call?.role !== 'reads' || looksForChanges.has(call.git?.subcommand ?? '');
  if (program === 'git' && mayHook) {
    const starts = bases.map((base) => resolve(base, ...(call?.git?.directories ?? [])));
    return gitDefinitions(starts.length > 0 ? starts : [workingDirectory]);
  }
  const names = files.get(program);
  if (!names) return undefined;
  const places = [...new Set(bases.flatMap((base) => upwards(base, workingDirectory)))];
  const members = words.some((word) => namesMembers.test(word))
    ? (await Promise.all(places.map(memberPackages))).flat()
    : [];
  const paths = [...(await pathsOf(places, names)), ...members];
  const included = await includedFiles(program, paths, textOf);
  return Promise.all(
    [...paths, ...included].map(async (path) => `${path}\0${definition(path, await textOf(path))}`),
  );
}

/** Options by which a script of another package of the project is run. */
const namesMembers = /^(?:-w.*|--workspaces?(?:=.*)?|--filter(?:=.*)?|-F.*|-r|--recursive)$/;

async function pathsOf(places: readonly string[], names: readonly string[]): Promise<readonly string[]> {
  const found = places.flatMap((place) =>
    names.map(async (name) => {
      const path = join(place, name);
      return isWild(name) ? [...((await matchedNames(path)) ?? [])].sort() : [path];
    }),
  );
  return (await Promise.all(found)).flat();
}

/** The packages that a project says it has in it. */
async function memberPackages(place: string): Promise<readonly string[]> {
  const ofPackage = patternsIn(await textOf(join(place, 'package.json')));
  const ofPnpm =
    (await textOf(join(place, 'pnpm-workspace.yaml')))?.matchAll(/^\s*-\s*['"]?([^'"\n#]+)/gm) ?? [];
  const patterns = [...ofPackage, ...[...ofPnpm].map(([, pattern = '']) => pattern.trim())];
  const plain = patterns.filter((each) => !each.startsWith('!')).map((each) => each.replace(/\*\*/g, '*'));
  const found = await Promise.all(plain.map((each) => pathsOf([place], [join(each, 'package.json')])));
  return found.flat();
}

function patternsIn(text: string | undefined): readonly string[] {
  const workspaces = parsed(text)?.workspaces;
  const list = Array.isArray(workspaces)
    ? workspaces
    : (workspaces as { packages?: unknown } | undefined)?.packages;
  return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
}

/** Where each program looks for what it runs, and for what runs it. */
const files: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    'npm pnpm yarn bun':
      'package.json .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml bunfig.toml .pnp.cjs .pnp.loader.mjs',
    'make gmake': 'GNUmakefile makefile Makefile',
    just: 'justfile Justfile .justfile',
    rake: 'Rakefile rakefile Rakefile.rb rakefile.rb',
    'gradle gradlew':
      'build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties gradlew gradle/wrapper/gradle-wrapper.properties',
    mvn: 'pom.xml .mvn/maven.config .mvn/jvm.config .mvn/extensions.xml',
    cargo: 'Cargo.toml build.rs .cargo/config.toml .cargo/config rust-toolchain rust-toolchain.toml',
    terraform: '*.tf *.tf.json',
    deno: 'deno.json deno.jsonc package.json',
    'turbo nx lerna': 'turbo.json nx.json project.json lerna.json package.json',
    'composer ant sbt mix': 'composer.json build.xml build.sbt project/build.properties mix.exs',
    bundle: 'Gemfile .bundle/config Rakefile',
    'poetry pdm hatch rye uv pipenv': 'pyproject.toml uv.toml Pipfile',
    'tox nox invoke inv fab': 'tox.ini noxfile.py pyproject.toml setup.cfg tasks.py fabfile.py',
    'task go-task':
      'Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml Taskfile.dist.yml Taskfile.dist.yaml',
    'cmake ninja meson scons': 'CMakeLists.txt CMakePresets.json build.ninja meson.build SConstruct',
    'bazel bazelisk': 'BUILD BUILD.bazel WORKSPACE MODULE.bazel .bazelrc .bazelversion',
    dotnet: '*.csproj *.fsproj *.sln Directory.Build.props Directory.Build.targets',
    'pre-commit lefthook': '.pre-commit-config.yaml lefthook.yml .lefthook.yml lefthook.yaml',
    'foreman overmind honcho vagrant tilt earthly skaffold':
      'Procfile Vagrantfile Tiltfile Earthfile skaffold.yaml',
    'docker podman':
      'compose.yaml compose.yml docker-compose.yaml docker-compose.yml compose.override.yaml compose.override.yml ' +
      'docker-compose.override.yaml docker-compose.override.yml .env',
  }).flatMap(([programs, names]) =>
    programs.split(' ').map((program) => [program, names.split(' ')] as const),
  ),
);

/** Of a package the scripts count, and what runs them: what it depends on changes with every installation. */
function definition(path: string, text: string | undefined): string {
  if (text === undefined) return '';
  // What it depends on changes with every edit, which files are its programs does not.
  if (basename(path) === 'Cargo.toml') return (text.match(runByCargo) ?? []).join('\n');
  const described = basename(path) === 'package.json' ? parsed(text) : undefined;
  // What is no package is compared as it stands.
  if (!described) return text;
  return JSON.stringify([described.scripts ?? {}, described.packageManager ?? '']);
}

const runByCargo = /^[^\n#]*\b(?:build|proc-macro|links|members|path)\s*=[^\n]*/gm;

function parsed(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // It is being written, or it never was one.
    return undefined;
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
