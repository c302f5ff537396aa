import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import nodeModule from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const cliFolder = join(import.meta.dirname, '..');
const modules = join(cliFolder, '../../node_modules');
const hasCompileCache = 'enableCompileCache' in nodeModule;
const builtLine = /^groundcrew: built dist\/main\.cjs in \d+ ms\n$/;

let checkout: string;
let temporaryFolder: string;

/** A checkout that was never built, and one that was built and started once: to build each anew took most of the time. */
const templates = mkdtempSync(join(tmpdir(), 'groundcrew-templates-'));
const [sources, built] = [join(templates, 'sources'), join(templates, 'built')];

beforeAll(async () => {
  temporaryFolder = tmpdir();
  checkout = sources;
  for (const name of ['bin', 'scripts']) cpSync(join(cliFolder, name), inCli(name), { recursive: true });
  mkdirSync(inCli('src'));
  writeFileSync(inCli('package.json'), JSON.stringify({ version: '1.2.3' }));
  writeFileSync(join(checkout, 'tsconfig.json'), '{}');
  writeFileSync(inCli('src/later.ts'), `export const word = 'later';`);
  writeFileSync(inCli('src/in-process.ts'), `export { word } from './later.js';`);
  writeFileSync(inCli('src/cli.ts'), `process.stdout.write('for users');`);
  writeFileSync(inCli('src/worker-main.ts'), `process.send?.('ready');`);
  mkdirSync(join(checkout, 'packages/terminal/src'), { recursive: true });
  writeFileSync(join(checkout, 'packages/terminal/src/index.ts'), `export const ui = 'terminal';`);
  mkdirSync(join(checkout, 'packages/acp-agent/src'), { recursive: true });
  writeFileSync(join(checkout, 'packages/acp-agent/src/index.ts'), `export const serve = () => undefined;`);
  mkdirSync(join(checkout, 'packages/inspector/src'), { recursive: true });
  writeFileSync(join(checkout, 'packages/inspector/src/index.ts'), `export const start = () => undefined;`);
  writeFileSync(join(checkout, 'packages/inspector/src/style.css'), 'body { margin: 0; }');
  for (const path of ['scripts/browser-options.mjs', 'packages/sdk/src/browser'])
    cpSync(join(cliFolder, '../..', path), join(checkout, path), { recursive: true });
  writeMain('first');
  symlinkSync(modules, join(checkout, 'node_modules'));
  makeOld(sources);
  copyOf(sources, built);
  checkout = built;
  await start().ended;
});

beforeEach(() => {
  temporaryFolder = tmpdir();
  checkout = mkdtempSync(join(tmpdir(), 'groundcrew-checkout-'));
  copyOf(sources, checkout);
});

afterEach(() => rmSync(checkout, { recursive: true, force: true }));
afterAll(() => rmSync(templates, { recursive: true, force: true }));

/** Whole seconds, which a copy keeps. */
function makeOld(folder: string): void {
  const old = new Date('2024-01-01T00:00:00Z');
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) utimesSync(join(entry.parentPath, entry.name), old, old);
}

function copyOf(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
}

/** From here on it is a checkout that was built and started before. */
function useBuilt(): void {
  rmSync(checkout, { recursive: true });
  copyOf(built, checkout);
}

describe('in a source checkout', () => {
  test('parallel first starts build once, and every one of them answers', async () => {
    const runs = await Promise.all([1, 2, 3, 4].map(() => start().ended));
    expect(runs.map(({ code, stdout }) => ({ code, stdout }))).toEqual(
      Array(4).fill({ code: 0, stdout: 'first 1.2.3 later' }),
    );
    expect(runs.filter(({ stderr }) => stderr.includes('built dist/main.cjs'))).toHaveLength(1);
    expect(leftovers()).toEqual([]);
  });

  test('a start after the first builds nothing and says nothing', async () => {
    useBuilt();
    expect(await start().ended).toEqual({ code: 0, stdout: 'first 1.2.3 later', stderr: '' });
  });

  test('a changed source is built again at the next start', async () => {
    useBuilt();
    writeMain('second');
    expect(await start().ended).toEqual({
      code: 0,
      stdout: 'second 1.2.3 later',
      stderr: expect.stringMatching(builtLine),
    });
  });

  test('the lock of a dead process is broken', async () => {
    const dead = await start('--pid').ended;
    rmSync(inCli('dist'), { recursive: true });
    mkdirSync(inCli('dist'));
    writeFileSync(inCli('dist/.lock'), dead.stdout);
    expect(await start().ended).toEqual({
      code: 0,
      stdout: 'first 1.2.3 later',
      stderr: expect.stringMatching(builtLine),
    });
    expect(leftovers()).toEqual([]);
  });

  test('a start waits for a living builder and says so', async () => {
    mkdirSync(inCli('dist'));
    writeFileSync(inCli('dist/.lock'), String(process.pid));
    const run = start();
    await run.says('waiting for process');
    rmSync(inCli('dist/.lock'));
    const { code, stdout, stderr } = await run.ended;
    expect({ code, stdout, firstLine: stderr.split('\n')[0] }).toEqual({
      code: 0,
      stdout: 'first 1.2.3 later',
      firstLine: `groundcrew: waiting for process ${process.pid}, which builds the program`,
    });
  });

  test('a source that does not compile ends the start and leaves the earlier build whole', async () => {
    useBuilt();
    const before = readFileSync(inCli('dist/main.cjs'), 'utf8');
    writeFileSync(inCli('src/main.ts'), 'const = ;');
    const { code, stdout, stderr } = await start().ended;
    expect({ code, stdout, lastLine: stderr.trimEnd().split('\n').at(-1) }).toEqual({
      code: 1,
      stdout: '',
      lastLine: 'groundcrew: the program could not be built',
    });
    expect(readFileSync(inCli('dist/main.cjs'), 'utf8')).toBe(before);
    expect(leftovers()).toEqual([]);
  });

  test('a missing esbuild is named, with the command that brings it', async () => {
    rmSync(join(checkout, 'node_modules'));
    expect(await start().ended).toEqual({
      code: 1,
      stdout: '',
      stderr: `groundcrew: cannot build the program, because esbuild is not installed: run \`npm ci\` in ${checkout}\n`,
    });
  });

  test('the failpoint variant is built beside the program', async () => {
    const build = run([inCli('scripts/build.mjs'), '--failpoints']);
    expect((await build.ended).code).toBe(0);
    expect((await run([inCli('dist-failpoints/main.cjs'), '--failpoints']).ended).stdout).toBe('true');
    expect(existsSync(inCli('dist'))).toBe(false);
  });
});

describe('as a published package', () => {
  beforeEach(() => {
    useBuilt();
    rmSync(inCli('src'), { recursive: true });
    rmSync(inCli('scripts'), { recursive: true });
    rmSync(inCli('dist/inputs.json'));
  });

  test('the program starts from its bundle alone', async () => {
    expect(await start().ended).toEqual({ code: 0, stdout: 'first 1.2.3 later', stderr: '' });
  });

  test('users start a bundle of their own, with a code cache of its own', async () => {
    const program = inCli('bin/groundcrew.js');
    const before = hasCompileCache ? 0 : statSync(cacheFile()).mtimeMs;
    expect(await run([program]).ended).toEqual({ code: 0, stdout: 'for users', stderr: '' });
    if (hasCompileCache) return;
    expect(existsSync(cacheFile('cli'))).toBe(true);
    expect(statSync(cacheFile()).mtimeMs).toBe(before);
  });

  test('an app finds the runtime for its own process, whichever way it imports', async () => {
    const file = JSON.stringify(inCli('bin/in-process.js'));
    const source = `import { word } from ${file}; import { createRequire } from 'node:module';
      process.stdout.write(word + createRequire(import.meta.url)(${file}).word);`;
    expect(await run(['--input-type=module', '--eval', source]).ended).toEqual({
      code: 0,
      stdout: 'laterlater',
      stderr: '',
    });
  });

  test('an old Node prints which version is needed', async () => {
    const pretend = `data:text/javascript,Object.defineProperty(process,'version',{value:'v18.20.8'})`;
    expect(await run(['--import', pretend, inCli('bin/groundcrew.js')]).ended).toEqual({
      code: 1,
      stdout: '',
      stderr: 'groundcrew needs Node 20.19 or later, or 22.12 or later; this is Node v18.20.8\n',
    });
  });
});

describe.runIf(hasCompileCache)('the compile cache of Node', () => {
  test('is kept beside the bundle, and the next start is the same', async () => {
    useBuilt();
    expect(readdirSync(inCli('dist'))).toContain('compile-cache');
    expect(readdirSync(inCli('dist')).filter((name) => name.endsWith('.code'))).toEqual([]);
    expect(await start().ended).toEqual({ code: 0, stdout: 'first 1.2.3 later', stderr: '' });
  });

  test('may be missing: where it cannot be written the start does not notice', async () => {
    useBuilt();
    rmSync(inCli('dist/compile-cache'), { recursive: true });
    writeFileSync(inCli('dist/compile-cache'), '');
    expect(await start().ended).toEqual({ code: 0, stdout: 'first 1.2.3 later', stderr: '' });
  });
});

describe.skipIf(hasCompileCache)('the code cache', () => {
  beforeEach(useBuilt);

  test('is readable by its owner alone and is not written again', async () => {
    const before = statSync(cacheFile());
    await start().ended;
    expect(before.mode & 0o777).toBe(0o600);
    expect(statSync(cacheFile()).mtimeMs).toBe(before.mtimeMs);
  });

  test('is written again when the program was used for something new, and keeps what it had', async () => {
    const kept = () => readFileSync(cacheFile());
    const caches: Buffer[] = [kept()];
    for (const use of ['one', 'two', 'one', 'two']) {
      await start('--use', use).ended;
      caches.push(kept());
    }
    const isNew = caches.slice(1).map((cache, index) => !cache.equals(caches[index] ?? Buffer.alloc(0)));
    expect(isNew).toEqual([true, true, false, false]);
  });

  test('is written again when it is damaged, and the start does not notice', async () => {
    const whole = readFileSync(cacheFile());
    const damages = [
      whole.map((byte, index) => (index > 200 ? 0 : byte)),
      whole.subarray(0, 100),
      Buffer.alloc(0),
    ];
    for (const damage of damages) {
      writeFileSync(cacheFile(), damage);
      expect(await start().ended).toEqual({ code: 0, stdout: 'first 1.2.3 later', stderr: '' });
      expect(readFileSync(cacheFile()).equals(damage)).toBe(false);
    }
  });

  test('goes to a private folder when the place beside the bundle cannot be written', async () => {
    const temporary = blockCacheBesideBundle();
    const folder = join(temporary, `groundcrew-code-${process.getuid?.()}`);
    const before = await start().ended;
    const kept = readdirSync(folder);
    expect({ before, kept, mode: statSync(folder).mode & 0o777 }).toEqual({
      before: { code: 0, stdout: 'first 1.2.3 later', stderr: '' },
      kept: [basename(cacheFile())],
      mode: 0o700,
    });
  });

  test('is not kept in a folder that others may write to', async () => {
    const folder = join(blockCacheBesideBundle(), `groundcrew-code-${process.getuid?.()}`);
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    expect(await start().ended).toEqual({ code: 0, stdout: 'first 1.2.3 later', stderr: '' });
    expect(readdirSync(folder)).toEqual([]);
  });

  test('of another bundle of the same length is never used', async () => {
    const cache = readFileSync(cacheFile());
    writeMain('other');
    await start('--pid').ended;
    writeFileSync(cacheFile(), cache);
    expect((await start().ended).stdout).toBe('other 1.2.3 later');
  });
});

function writeMain(word: string): void {
  const main = `
    declare const __VERSION__: string, __FAILPOINTS__: boolean;
    export const used = new Set(process.argv[2] === '--use' ? [process.argv[3]] : []);
    if (process.argv[2] === '--pid') process.stdout.write(String(process.pid));
    else if (process.argv[2] === '--failpoints') process.stdout.write(String(__FAILPOINTS__));
    else import('./later.js').then(({ word }) => process.stdout.write(['${word}', __VERSION__, word].join(' ')));`;
  writeFileSync(inCli('src/main.ts'), main);
}

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Run {
  readonly ended: Promise<Ended>;
  /** Resolves when standard error contains the words; rejects when the process ends without them. */
  says(words: string): Promise<void>;
}

/** As a client starts it. */
function start(...args: readonly string[]): Run {
  return run([inCli('bin/groundcrew.js'), ...args, '--headless']);
}

function run(args: readonly string[]): Run {
  const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
  const env = { ...inherited, TMPDIR: temporaryFolder };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
  const says = (words: string) =>
    new Promise<void>((resolve, reject) => {
      child.stderr.on('data', () => stderr.includes(words) && resolve());
      child.once('close', () => reject(new Error(`ended without saying "${words}": ${stderr}`)));
    });
  return { ended, says };
}

function inCli(path: string): string {
  return join(checkout, 'packages/cli', path);
}

function cacheFile(bundle = 'main'): string {
  return inCli(`dist/${bundle}.${process.version}-${process.arch}.code`);
}

/** A folder in the cache's place makes it unwritable even for root; returns the folder for temporary files. */
function blockCacheBesideBundle(): string {
  rmSync(cacheFile());
  mkdirSync(cacheFile());
  writeFileSync(join(cacheFile(), 'in-the-way'), '');
  temporaryFolder = join(checkout, 'tmp');
  mkdirSync(temporaryFolder);
  return temporaryFolder;
}

function leftovers(): readonly string[] {
  return readdirSync(inCli('dist')).filter((name) => name.startsWith('.'));
}
