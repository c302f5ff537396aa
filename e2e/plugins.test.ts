import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, type WireClient } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
let worlds = 0;

async function world(): Promise<{ client: WireClient; directory: string; home: string }> {
  const directory = join(runtime.home.path, `plugins-${++worlds}`);
  const home = join(directory, 'home');
  mkdirSync(directory, { recursive: true });
  return { client: await runtime.connect(runtime.spawn({ flags: ['--stdio'], home })), directory, home };
}

function writeSkill(directory: string, name: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(
    join(directory, 'SKILL.md'),
    `---\nname: ${name}\ndescription: Knows ${name}.\n---\nDo ${name}.\n`,
  );
}

function marketplace(directory: string, source = './sums'): string {
  const path = join(directory, 'market');
  writeSkill(join(path, 'sums', 'skills', 'adding'), 'adding');
  const plugins = [{ name: 'sums', source, description: 'Does sums.', version: '1.2.0' }];
  writeFileSync(join(path, 'marketplace.json'), JSON.stringify({ name: 'market', plugins }));
  return path;
}

async function skillNames(client: WireClient): Promise<readonly string[]> {
  const session = await client.create({});
  const { skills } = await session.call<{ skills: readonly { name: string }[] }>('session.skills.list');
  return skills.map(({ name }) => name);
}

test('a plugin of a marketplace is installed, reaches new sessions while it is enabled, and goes', async () => {
  const { client, directory, home } = await world();
  expect(await client.call('plugins.marketplaces.add', { source: marketplace(directory) })).toEqual({
    name: 'market',
  });
  expect(await client.call('plugins.marketplaces.list')).toEqual({
    marketplaces: [
      { name: 'local', source: join(home, 'marketplace'), isDefault: true },
      { name: 'market', source: join(directory, 'market') },
    ],
  });
  expect(await client.call('plugins.marketplaces.browse', { name: 'market' })).toEqual({
    plugins: [{ name: 'sums', description: 'Does sums.' }],
  });
  const plugin = { name: 'sums', marketplace: 'market', version: '1.2.0', enabled: true };
  expect(await client.call('plugins.install', { source: 'sums@market' })).toEqual({
    plugin,
    skillsInstalled: 1,
  });
  expect(await skillNames(client)).toContain('adding');
  const session = await client.create({});
  expect(await session.call('session.plugins.list')).toEqual({ plugins: [plugin] });

  await client.call('plugins.disable', { names: ['sums@market'] });
  expect(await client.call('plugins.list')).toEqual({ plugins: [{ ...plugin, enabled: false }] });
  expect(await skillNames(client)).not.toContain('adding');
  await session.call('session.plugins.reload');
  expect(await session.call('session.plugins.list')).toEqual({ plugins: [] });
  await client.call('plugins.enable', { names: ['sums@market'] });

  expect(await client.call('plugins.marketplaces.remove', { name: 'market' })).toEqual({
    removed: false,
    dependentPlugins: ['sums'],
  });
  expect(await client.call('plugins.marketplaces.remove', { name: 'market', force: true })).toEqual({
    removed: true,
  });
  expect(await client.call('plugins.list')).toEqual({ plugins: [] });
  expect(existsSync(join(home, 'installed-plugins', 'market', 'sums'))).toBe(false);
  await client.close();
});

test('a plugin from a directory is copied without links, updated from there, and removed by its id', async () => {
  const { client, directory, home } = await world();
  const path = join(directory, 'mine');
  writeSkill(path, 'subtracting');
  writeFileSync(join(path, 'plugin.json'), JSON.stringify({ name: 'mine', version: '1' }));
  symlinkSync('/etc/passwd', join(path, 'out'));
  const { plugin, deprecationWarning } = await client.call<{
    plugin: { directSourceId: string };
    deprecationWarning: string;
  }>('plugins.install', { source: path });
  expect(deprecationWarning).toContain('deprecated');
  const copy = join(home, 'installed-plugins', '_direct', `mine-${plugin.directSourceId}`);
  expect(existsSync(join(copy, 'SKILL.md'))).toBe(true);
  expect(existsSync(join(copy, 'out'))).toBe(false);
  expect(await skillNames(client)).toContain('subtracting');
  writeFileSync(join(path, 'plugin.json'), JSON.stringify({ name: 'mine', version: '2' }));
  expect(await client.call('plugins.updateAll')).toEqual({
    results: [
      {
        name: 'mine',
        marketplace: '',
        success: true,
        previousVersion: '1',
        newVersion: '2',
        skillsInstalled: 1,
      },
    ],
  });
  await client.call('plugins.uninstall', { name: 'mine', directSourceId: plugin.directSourceId });
  expect(await client.call('plugins.list')).toEqual({ plugins: [] });
  await client.close();
});

test('what is not there, or lies outside of its marketplace, is refused', async () => {
  const { client, directory } = await world();
  await client.call('plugins.marketplaces.add', { source: marketplace(directory, '../..') });
  const failures = [
    ['plugins.install', { source: 'sums@market' }, 'Plugin "sums" lies outside of its marketplace'],
    ['plugins.install', { source: 'x@nope' }, 'Marketplace "nope" not found'],
    ['plugins.install', { source: '/nope/there' }, 'Local plugin path does not exist: /nope/there'],
    ['plugins.uninstall', { name: 'x' }, 'Plugin "x" is not installed'],
    ['plugins.update', { name: 'x' }, 'Plugin "x" is not installed'],
    ['plugins.marketplaces.remove', { name: 'nope' }, 'Marketplace "nope" is not registered'],
  ] as const;
  for (const [method, params, reason] of failures)
    expect(await client.failure(method, params)).toMatchObject({
      message: `Request ${method} failed with message: ${reason}`,
    });
  expect(await client.call('plugins.marketplaces.refresh', { name: 'nope' })).toEqual({
    results: [{ name: 'nope', success: false, error: 'Marketplace "nope" not found' }],
  });
  await client.close();
});
