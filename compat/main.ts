import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { PublishedClient, Registry } from './client.js';
import { npmClient, npmVersions } from './npm-clients.js';
import { pypiClient, pypiVersions } from './pypi-clients.js';
import { type ClientResult, runClient } from './run.js';
import { mergeTables, newlyRed, sectionOf, tableOf, withSection } from './table.js';
import { unservedMethods } from './unserved-methods.js';

const usage = `Runs every published Copilot client against the built runtime, with the offline model.

  npm run compat                       all of npm and PyPI; fails when a cell is red that README.md has green
  npm run compat -- --only npm         one registry
  npm run compat -- --version 0.1.30   one version; may be repeated
  npm run compat -- --write            keeps the table, and the methods that are not served, in compat/README.md
  npm run compat -- --cache DIR        where clients are installed; ~/.cache/groundcrew-compat without
  npm run compat -- --methods          only the methods that are not served
`;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    version: { type: 'string', multiple: true },
    write: { type: 'boolean', default: false },
    cache: { type: 'string', default: join(homedir(), '.cache', 'groundcrew-compat') },
    methods: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '2' },
    help: { type: 'boolean', default: false },
  },
});

const root = join(import.meta.dirname, '..');
const page = join(import.meta.dirname, 'README.md');

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;

async function main(): Promise<boolean> {
  mkdirSync(values.cache, { recursive: true });
  if (values.methods) return writeMethods();
  execFileSync('npm', ['run', 'build'], { cwd: root, stdio: 'ignore' });
  const results = await runAll();
  const table = tableOf(results);
  console.log(table);
  const before = readFileSync(page, 'utf8');
  const red = newlyRed(sectionOf(before, 'table'), results);
  for (const line of red) console.log(`was green: ${line}`);
  if (values.write) {
    const isWhole = values.only === undefined && values.version === undefined;
    const kept = sectionOf(before, 'table');
    writeFileSync(
      page,
      withSection(before, 'table', isWhole || kept === '' ? table : mergeTables(kept, table)),
    );
    writeMethods();
  }
  return red.length === 0;
}

/** Each client by itself: one that cannot be installed is a row that says so. */
async function runAll(): Promise<readonly ClientResult[]> {
  const left = [...wanted()];
  const results = new Map<string, ClientResult>();
  const order = left.map(({ registry, version }) => `${registry} ${version}`);
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const { registry, version } = next;
      const result = await runVersion(registry, version);
      console.error(`${registry} ${version}: ${result.failure ?? 'ok'}`);
      results.set(`${registry} ${version}`, result);
    }
  };
  await Promise.all(Array.from({ length: Number(values.jobs) }, worker));
  return order.flatMap((name) => results.get(name) ?? []);
}

async function runVersion(registry: Registry, version: string): Promise<ClientResult> {
  let client: PublishedClient;
  try {
    client = (registry === 'npm' ? npmClient : pypiClient)(version, values.cache);
  } catch (error) {
    const failure = `cannot be installed: ${error instanceof Error ? error.message.split('\n')[0] : error}`;
    return { client: { registry, version, environment: {} }, results: [], failure };
  }
  return runClient(client, join(root, 'packages/cli/bin/groundcrew.js'));
}

function wanted(): readonly { readonly registry: Registry; readonly version: string }[] {
  const registries: readonly Registry[] =
    values.only === undefined ? ['npm', 'pypi'] : [registryOf(values.only)];
  return registries.flatMap((registry) => {
    const versions = registry === 'npm' ? npmVersions() : pypiVersions();
    return versions
      .filter((version) => values.version?.includes(version) ?? true)
      .map((version) => ({ registry, version }));
  });
}

function registryOf(name: string): Registry {
  if (name === 'npm' || name === 'pypi') return name;
  throw new Error(`--only: expected npm or pypi, not ${name}`);
}

function writeMethods(): boolean {
  const registries = [
    { registry: 'npm', versions: npmVersions() },
    { registry: 'pypi', versions: pypiVersions() },
  ] as const;
  const text = unservedMethods(registries, values.cache);
  if (values.write) writeFileSync(page, withSection(readFileSync(page, 'utf8'), 'methods', text));
  else console.log(text);
  return true;
}
