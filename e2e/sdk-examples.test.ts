import { execFile } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runtimePath } from './sdk-world.js';

const repository = join(import.meta.dirname, '..');
const modules = join(repository, 'node_modules');
const folder = mkdtempSync(join(tmpdir(), 'groundcrew-examples-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in TypeScript in a home of its own, as a reader would. */
function run(program: string, tsconfig = join(repository, 'tsconfig.json')): Promise<string> {
  return node(['--import=tsx', program], { TSX_TSCONFIG_PATH: tsconfig });
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
  const names = readdirSync(join(repository, 'examples'));
  test.concurrent.each(names)('%s does what it says', { timeout: 60_000 }, async (name) => {
    expect(await run(join(repository, 'examples', name, 'main.ts'))).not.toBe('');
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

  beforeAll(() => {
    symlinkSync(modules, join(folder, 'node_modules'));
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
    expect(await node([compiler, '-p', join(folder, 'tsconfig.json')])).toBe('');
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
      const tsconfig = join(folder, 'tsconfig.json');
      const said = await run(ours, tsconfig);
      expect(said).not.toBe('');
      expect(await run(official, tsconfig)).toBe(said);
    },
  );
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}
