import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { liveRuntime, providerOf, RuntimeProcess, say, WireClient } from '@groundcrew/testkit';
import { build } from 'esbuild';
import { beforeAll, expect, test } from 'vitest';

const runtime = liveRuntime();
const preload = fileURLToPath(new URL('loaded-modules.cjs', import.meta.url));
const repository = fileURLToPath(new URL('..', import.meta.url));

// The first start after a change builds the program, by a child process.
beforeAll(() => loadedBy({}), 60_000);

test('a start and a turn load nothing heavy of Node that they do not use', async () => {
  const { modules } = await loadedBy({});
  expect(modules).toContain('NativeModule net');
  const heavy = ['child_process', 'fs/promises', 'http', 'https', 'inspector', 'tls', 'worker_threads'];
  expect(modules.filter((name) => heavy.includes(name.replace('NativeModule ', '')))).toEqual([]);
});

test('a start and a turn load no library, and that of MCP only for a server', async () => {
  const { command, args } = { command: process.execPath, args: ['-e', 'process.stdin.resume()'] };
  const silent = { type: 'stdio', command, args, tools: ['*'], timeout: 1 };
  const librariesOf = async (options: object) => (await loadedBy(options)).libraries;
  expect({
    without: await librariesOf({}),
    disabled: await librariesOf({ mcpServers: { silent }, disabledMcpServers: ['silent'] }),
    // Shows that the question can be answered otherwise.
    with: await librariesOf({ mcpServers: { silent } }),
  }).toEqual({ without: [], disabled: [], with: ['library-mcp-client.cjs'] });
});

test('before the first answer no room runs that few clients ask for, and little code at all', async () => {
  const { paths, evaluated, bytes } = await evaluatedAtStart();
  expect(evaluated.filter((path) => rarelyNeeded.some((room) => path.startsWith(room)))).toEqual([]);
  // A commit that raises it says what clients wait for.
  expect(bytes).toBeLessThanOrEqual(mostBytes);
  // A room that is renamed would be looked for in vain.
  expect(rarelyNeeded.filter((room) => !paths.some((path) => path.startsWith(room)))).toEqual([]);
});

/** With libraries in one file: it is what is evaluated that counts here. */
const mostBytes = 1_140_000;

/** Where no module may be that a start evaluates. */
const rarelyNeeded = [
  'node_modules/@modelcontextprotocol/',
  'node_modules/@nats-io/',
  'node_modules/diff/',
  'node_modules/pg/',
  'node_modules/unbash/',
  'node_modules/ws/',
  'node_modules/yaml/',
  'packages/cluster/',
  'packages/http-client/',
  'packages/offline-model/src/patterns/',
  'packages/runtime/src/permissions/command-risks.ts',
  'packages/runtime/src/permissions/shell-command.ts',
  'packages/runtime/src/permissions/shell/programs/',
  'packages/store-postgres/',
  'packages/telemetry/',
];

interface Loaded {
  readonly modules: readonly string[];
  readonly libraries: readonly string[];
}

/** What a process loads for a start and a turn. */
async function loadedBy(options: object): Promise<Loaded> {
  const home = mkdtempSync(join(runtime.home.path, 'home-'));
  const file = join(home, 'loaded.json');
  const process = new RuntimeProcess({
    flags: ['--headless', '--stdio'],
    home,
    environment: { NODE_OPTIONS: `--require "${preload}"`, LOADED_MODULES_FILE: file },
  });
  const client = new WireClient(await process.connect());
  const session = await client.create({ ...providerOf(runtime.script(say('Hello'))), ...options });
  await session.turn('Hello');
  await client.close();
  await process.exited;
  return JSON.parse(readFileSync(file, 'utf8')) as Loaded;
}

/** The modules of the program that clients start, those among them that it reaches without an `import()`, and their size. */
async function evaluatedAtStart(): Promise<{
  readonly paths: readonly string[];
  readonly evaluated: readonly string[];
  readonly bytes: number;
}> {
  const { metafile } = await build({
    absWorkingDir: repository,
    entryPoints: ['packages/cli/src/main.ts'],
    outfile: 'unwritten.cjs',
    write: false,
    bundle: true,
    minify: true,
    metafile: true,
    format: 'cjs',
    platform: 'node',
    external: ['@groundcrew/sqlite-node20', '@vscode/ripgrep', 'undici', 'pg-native'],
    define: { 'import.meta.dirname': '__dirname', 'import.meta.filename': '__filename' },
    tsconfig: 'tsconfig.json',
    logLevel: 'error',
  });
  const { inputs, outputs } = metafile;
  const evaluated = new Set<string>();
  const open = ['packages/cli/src/main.ts'];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    if (evaluated.has(path)) continue;
    evaluated.add(path);
    const needed = inputs[path]?.imports.filter(
      ({ kind, external }) => kind !== 'dynamic-import' && !external,
    );
    open.push(...(needed ?? []).map((imported) => imported.path));
  }
  const written = outputs['unwritten.cjs']?.inputs ?? {};
  const bytes = [...evaluated].reduce((sum, path) => sum + (written[path]?.bytesInOutput ?? 0), 0);
  return { paths: Object.keys(inputs), evaluated: [...evaluated], bytes };
}
