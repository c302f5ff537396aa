import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say, type WireClient } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

// Files that users write, and that the thread of all clients reads: a pipe in their place would hold it for ever.
const runtime = liveRuntime();

async function world(name: string): Promise<{ client: WireClient; at(path: string): string }> {
  const root = join(runtime.home.path, name);
  const at = (path: string) => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    return join(root, path);
  };
  return { client: await runtime.connect(runtime.spawn({ flags: ['--stdio'], home: at('home') })), at };
}

test('rules of a configDir that are a pipe forbid every tool, and hold up no client', async () => {
  const { client, at } = await world('rules');
  execFileSync('mkfifo', [at('own/permissions.json')]);
  writeFileSync(at('work/a.txt'), 'a line');
  const model = runtime.script(
    callTools({ id: 'c1', name: 'bash', arguments: { command: 'cat a.txt', description: 'd' } }),
    say('fine'),
  );
  const session = await client.create({
    ...providerOf(model),
    workingDirectory: at('work'),
    configDir: at('own'),
  });
  const events = await session.turn('Go');
  const results = events.flatMap(({ type, data }) => (type === 'tool.execution_complete' ? [data] : []));
  expect(results).toMatchObject([
    {
      success: false,
      error: {
        code: 'denied',
        message: expect.stringContaining(`${at('own/permissions.json')} is no plain file`),
      },
    },
  ]);
  await client.close();
});

test.each([
  ['plugin.json', 'plugins.install'],
  ['marketplace.json', 'plugins.marketplaces.add'],
])('a %s that is a pipe is refused', async (name, method) => {
  const { client, at } = await world(`plugin ${name}`);
  execFileSync('mkfifo', [at(`mine/${name}`)]);
  expect(await client.failure(method, { source: at('mine') })).toMatchObject({
    message: expect.stringContaining(`${at(`mine/${name}`)} is no plain file`),
  });
  await client.close();
});

test('a mark that an editor puts before a text does not make it unreadable', async () => {
  const { client, at } = await world('marked');
  const write = (path: string, value: unknown) => writeFileSync(at(path), `\uFEFF${JSON.stringify(value)}`);
  write('home/mcp.json', { mcpServers: { one: { command: 'nothing-of-this-name' } } });
  write('home/extensions.json', { disabled: [] });
  write('mine/plugin.json', { name: 'mine', version: '1' });
  expect(await client.call('plugins.install', { source: at('mine') })).toMatchObject({
    plugin: { name: 'mine', version: '1' },
  });
  const { servers } = await client.call<{ servers: object }>('mcp.config.list', {});
  expect(Object.keys(servers)).toEqual(['one']);
  await client.close();
});
