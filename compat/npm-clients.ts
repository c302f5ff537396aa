import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentFor, type Feature, type PublishedClient } from './client.js';

const packageName = '@github/copilot-sdk';
const scenario = join(import.meta.dirname, 'scenarios', 'node-client.mjs');

/** Every published version that has a client in it, as the registry lists them now. */
export function npmVersions(): readonly string[] {
  const listed = execFileSync('npm', ['view', packageName, 'versions', '--json'], { encoding: 'utf8' });
  return (JSON.parse(listed) as string[]).filter((version) => version !== '0.0.1');
}

/** Installs a version into the cache, unless it is there. Throws when it cannot be installed. */
export function npmClient(version: string, cache: string): PublishedClient {
  const directory = join(cache, 'npm', version);
  if (!existsSync(directory)) install(version, directory);
  const packageDirectory = join(directory, 'node_modules', packageName);
  const features = featuresOf(packageDirectory);
  return {
    registry: 'npm',
    version,
    environment: environmentFor(version),
    features,
    command: (place) => [
      process.execPath,
      scenario,
      JSON.stringify({ ...place, packageDirectory, features }),
    ],
  };
}

/** The runtime that the package would bring is large and is not used: an empty package stands for it. */
function install(version: string, directory: string): void {
  const unfinished = `${directory}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(join(unfinished, 'empty'), { recursive: true });
  writeFileSync(
    join(unfinished, 'empty', 'package.json'),
    JSON.stringify({ name: '@github/copilot', version: '99.0.0' }),
  );
  writeFileSync(
    join(unfinished, 'package.json'),
    JSON.stringify({
      private: true,
      dependencies: { [packageName]: version },
      overrides: { '@github/copilot': 'file:./empty' },
    }),
  );
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--omit=optional', '--loglevel=error'];
  execFileSync('npm', ['install', ...flags], { cwd: unfinished, stdio: ['ignore', 'ignore', 'inherit'] });
  renameSync(unfinished, directory);
}

function featuresOf(packageDirectory: string): readonly Feature[] {
  const text = textOf(join(packageDirectory, 'dist'));
  const marks: Readonly<Record<Feature, boolean>> = {
    streaming: /streaming: config\.streaming/.test(text),
    permissions: text.includes('requestPermission'),
    hooks: /hooks: ?!!/.test(text),
    input: text.includes('requestUserInput'),
    'runs tools unasked': isProtocol2(text) && !text.includes('requestPermission: true'),
    'old decisions': !text.includes('approve-once'),
  };
  return (Object.keys(marks) as Feature[]).filter((feature) => marks[feature]);
}

/** Up to 0.1.30 the client accepts one version of the protocol, which is 1 or 2; the first release names none. */
function isProtocol2(text: string): boolean {
  const [, named] = /SDK_PROTOCOL_VERSION = (\d)/.exec(text) ?? [];
  return named === undefined || Number(named) < 3;
}

/** All that the package's files say. */
function textOf(directory: string): string {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /\.(?:js|d\.ts)$/.test(file) && !file.startsWith('cjs'))
    .map((file) => readFileSync(join(directory, file), 'utf8'))
    .join('\n');
}
