import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { environmentFor, type Feature, type PublishedClient } from './client.js';

const packageName = 'github-copilot-sdk';
const scenario = join(import.meta.dirname, 'scenarios', 'python_client.py');
const python = 'python3';
/** What the client needs of others; its own list is left alone, for it names a runtime too. */
const dependencies = ['python-dateutil', 'pydantic', 'typing-extensions', 'httpx'];

/** Every release and beta that the index lists now; candidates and nightly builds are left out. */
export function pypiVersions(): readonly string[] {
  const listed = execFileSync(python, ['-m', 'pip', 'index', 'versions', packageName, '--pre'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [, versions = ''] = /Available versions: (.*)/.exec(listed) ?? [];
  return versions
    .split(', ')
    .filter((version) => version !== '' && !/rc|dev/.test(version))
    .reverse();
}

/** Installs a release into the cache, unless it is there. Throws when it cannot be installed. */
export function pypiClient(version: string, cache: string): PublishedClient {
  const directory = join(cache, 'pypi', version);
  const shared = join(cache, 'pypi', 'deps');
  if (!existsSync(shared)) pip(shared, dependencies);
  if (!existsSync(directory)) install(version, directory);
  const features = featuresOf(join(directory, 'copilot'));
  return {
    registry: 'pypi',
    version,
    environment: { ...environmentFor(version) },
    features,
    command: (place) => [
      '/usr/bin/env',
      `PYTHONPATH=${[directory, shared].join(delimiter)}`,
      python,
      scenario,
      JSON.stringify({ ...place, features }),
    ],
  };
}

/** Some releases bring a runtime, which is large and is not used. */
function install(version: string, directory: string): void {
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  pip(unfinished, ['--no-deps', '--no-compile', `${packageName}==${version}`]);
  rmSync(join(unfinished, 'copilot', 'bin'), { recursive: true, force: true });
  renameSync(unfinished, directory);
}

function pip(target: string, what: readonly string[]): void {
  const args = ['-m', 'pip', 'install', '--quiet', '--target', target, ...what];
  execFileSync(python, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

function featuresOf(directory: string): readonly Feature[] {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.py'),
  );
  const text = files.map((file) => readFileSync(join(directory, file), 'utf8')).join('\n');
  const marks: Readonly<Record<Feature, boolean>> = {
    streaming: text.includes('"streaming"'),
    permissions: text.includes('requestPermission'),
    hooks: text.includes('on_pre_tool_use'),
    input: text.includes('requestUserInput'),
    'runs tools unasked':
      !/payload\["requestPermission"\] = True\n(?=[\s\S]*envValueMode)/.test(text) && isProtocol2(text),
    'old decisions': !text.includes('approve-once'),
  };
  return (Object.keys(marks) as Feature[]).filter((feature) => marks[feature]);
}

function isProtocol2(text: string): boolean {
  const [, named] = /SDK_PROTOCOL_VERSION = (\d)/.exec(text) ?? [];
  return named === undefined || Number(named) < 3;
}
