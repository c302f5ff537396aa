import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { liveRuntime, providerOf, RuntimeProcess, say, WireClient } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const preload = fileURLToPath(new URL('loaded-modules.cjs', import.meta.url));

test('a start and a turn load nothing heavy of Node that they do not use', async () => {
  const file = join(runtime.home.path, 'loaded.json');
  const process = new RuntimeProcess({
    flags: ['--headless', '--stdio'],
    home: runtime.home.path,
    environment: { NODE_OPTIONS: `--require "${preload}"`, LOADED_MODULES_FILE: file },
  });
  const client = new WireClient(await process.connect());
  const session = await client.create(providerOf(runtime.script(say('Hello'))));
  await session.turn('Hello');
  await client.close();
  await process.exited;

  const loaded = JSON.parse(readFileSync(file, 'utf8')) as readonly string[];
  expect(loaded).toContain('NativeModule net');
  const heavy = ['child_process', 'fs/promises', 'http', 'https', 'inspector', 'tls', 'worker_threads'];
  expect(loaded.filter((name) => heavy.includes(name.replace('NativeModule ', '')))).toEqual([]);
});

test('nothing of the MCP library runs before the first server', async () => {
  const { command, args } = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
  const silent = { type: 'stdio', command, args, tools: ['*'], timeout: 1 };
  expect({
    without: await hasRun(mcpLibrary, {}),
    disabled: await hasRun(mcpLibrary, { mcpServers: { silent }, disabledMcpServers: ['silent'] }),
    // Shows that the question can be answered otherwise.
    with: await hasRun(mcpLibrary, { mcpServers: { silent } }),
  }).toEqual({ without: false, disabled: false, with: true });
});

/** Texts of the library that stand near its beginning and its end in the program. */
const mcpLibrary = { begin: 'IssuerMismatchError', end: 'StreamableHTTP' };

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly {
        readonly startOffset: number;
        readonly endOffset: number;
        readonly count: number;
      }[];
    }[];
  }[];
}

/** Whether a start and a turn ran any function between two texts of the program. */
async function hasRun({ begin, end }: typeof mcpLibrary, options: object): Promise<boolean> {
  const directory = mkdtempSync(join(runtime.home.path, 'coverage-'));
  const process = new RuntimeProcess({
    flags: ['--headless', '--stdio'],
    home: mkdtempSync(join(runtime.home.path, 'home-')),
    environment: { NODE_V8_COVERAGE: directory },
  });
  const client = new WireClient(await process.connect());
  const session = await client.create({ ...providerOf(runtime.script(say('Hello'))), ...options });
  await session.turn('Hello');
  await client.close();
  await process.exited;
  const scripts = readdirSync(directory).flatMap(
    (name) => (JSON.parse(readFileSync(join(directory, name), 'utf8')) as Coverage).result,
  );
  const program = scripts.find(({ url }) => url.endsWith('/dist/main.cjs'));
  const source = readFileSync(fileURLToPath(program?.url ?? ''), 'utf8');
  const [from, to] = [source.indexOf(begin), source.indexOf(end)];
  if (from < 0 || to < from) throw new Error('The program has no such texts');
  return (program?.functions ?? [])
    .flatMap(({ ranges }) => ranges)
    .some(({ startOffset, endOffset, count }) => startOffset > from && endOffset < to && count > 0);
}
