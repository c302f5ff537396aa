import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runtimePath } from './sdk-world.js';

const repository = join(import.meta.dirname, '..');
const modules = join(repository, 'node_modules');
const folder = mkdtempSync(join(tmpdir(), 'groundcrew-examples-'));

beforeAll(() => symlinkSync(modules, join(folder, 'node_modules')));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compiles programs, and the SDK they share, once: to do that anew for each of them took most of the time of their runs. */
async function compiled(programs: readonly { readonly in: string; readonly out: string }[]): Promise<void> {
  await build({
    entryPoints: [...programs],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['@github/copilot-sdk', 'yaml', 'zod'],
    tsconfig: join(repository, 'tsconfig.json'),
    logLevel: 'error',
  });
}

/** Rejects with all that the program said when it fails. */
async function node(args: readonly string[], environment: Record<string, string> = {}): Promise<string> {
  const home = mkdtempSync(join(folder, 'home-'));
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: repository,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      COPILOT_HOME: home,
      COPILOT_CLI_PATH: runtimePath,
      ...environment,
    },
  });
  return stdout;
}

describe('examples', () => {
  const entries = readdirSync(join(repository, 'examples'), { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);

  beforeAll(async () => {
    cpSync(join(repository, 'examples'), join(folder, 'examples'), { recursive: true });
    await compiled(
      names.map((name) => ({
        in: join(repository, 'examples', name, 'main.ts'),
        out: `examples/${name}/main`,
      })),
    );
  });

  test.concurrent.each(names)('%s does what it says', { timeout: 60_000 }, async (name) => {
    expect(await node([join(folder, 'examples', name, 'main.mjs')])).not.toBe('');
  });

  test('the first one does so when it is started as its page says', { timeout: 60_000 }, async () => {
    const program = join(repository, 'examples', 'first-session', 'main.ts');
    const tsconfig = { TSX_TSCONFIG_PATH: join(repository, 'tsconfig.json') };
    expect(await node(['--import=tsx', program], tsconfig)).not.toBe('');
  });
});

describe('the page for those who come from the official SDK', () => {
  const page = readFileSync(join(repository, 'docs', 'coming-from-copilot-sdk.md'), 'utf8');
  const programs = [
    ...page.matchAll(/## ([^\n]+)\n\n```ts official\n(.*?)```\n\n```ts groundcrew\n(.*?)```/gs),
  ].map(([, title = '', official = '', ours = ''], index) => ({
    title,
    official: file(`official-${index}.mts`, official),
    ours: file(`ours-${index}.mts`, ours),
  }));

  beforeAll(async () => {
    await compiled(
      programs
        .flatMap(({ official, ours }) => [official, ours])
        .map((path) => ({ in: path, out: basename(path, '.mts') })),
    );
    const paths = { '@groundcrew/*': [join(repository, 'packages', '*', 'src', 'index.ts')] };
    const compilerOptions = { noEmit: true, paths, typeRoots: [join(modules, '@types')] };
    file(
      'tsconfig.json',
      JSON.stringify({
        extends: join(repository, 'tsconfig.base.json'),
        compilerOptions,
        include: ['*.mts'],
      }),
    );
  });

  test('every program on it is well typed', { timeout: 60_000 }, async () => {
    const compiler = join(modules, 'typescript-native', 'bin', 'tsc');
    expect(await node([compiler, '--checkers', '1', '-p', join(folder, 'tsconfig.json')])).toBe('');
    expect(programs.map(({ title }) => title)).toEqual([
      'A first session',
      'A tool, and permission to run it',
      'Streaming',
      'Resuming',
    ]);
  });

  test.concurrent.each(programs)(
    '$title: both say the same',
    { timeout: 60_000 },
    async ({ official, ours }) => {
      const said = await node([compiledTo(ours)]);
      expect(said).not.toBe('');
      expect(await node([compiledTo(official)])).toBe(said);
    },
  );
});

function compiledTo(program: string): string {
  return program.replace(/\.mts$/, '.mjs');
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
