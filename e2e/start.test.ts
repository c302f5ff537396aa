import { readFileSync } from 'node:fs';
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
