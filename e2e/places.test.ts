import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, say, story } from '@groundcrew/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const inside = (...names: string[]) => join(runtime.workingDirectory, ...names);
const outside = (...names: string[]) => join(runtime.home.path, 'outside', ...names);

beforeAll(() => {
  mkdirSync(outside('deep'), { recursive: true });
  writeFileSync(outside('secret.txt'), 'outer secret');
  writeFileSync(outside('deep', 'secret.txt'), 'deep secret');
  mkdirSync(inside('sub'));
  symlinkSync(outside(), inside('out'));
  symlinkSync('../../outside/deep', inside('sub', 'relative-out'));
  symlinkSync(inside('out'), inside('chain'));
  symlinkSync(outside('secret.txt'), inside('file-out.txt'));
  symlinkSync(outside('not-there.txt'), inside('nothing'));
});

/** Where each of these leads. */
const ways: readonly (readonly [string, () => string])[] = [
  ['../outside/secret.txt', () => outside('secret.txt')],
  ['sub/../../outside/secret.txt', () => outside('secret.txt')],
  ['out/secret.txt', () => outside('secret.txt')],
  ['chain/deep/secret.txt', () => outside('deep', 'secret.txt')],
  ['sub/relative-out/secret.txt', () => outside('deep', 'secret.txt')],
  ['file-out.txt', () => outside('secret.txt')],
  ['./out/./deep//secret.txt', () => outside('deep', 'secret.txt')],
  ...(process.platform === 'linux'
    ? ([['/proc/self/root/etc/hostname', () => '/etc/hostname']] as const)
    : []),
];

/** How each tool is made to touch a file. */
const touches: Readonly<Record<string, (path: string) => object>> = {
  view: (path) => ({ path }),
  edit: (path) => ({ path, old_str: 'secret', new_str: 'known' }),
  grep: (path) => ({ pattern: 'secret', path, output_mode: 'content' }),
};

describe.each(Object.entries(touches))('%s', (name, argumentsFor) => {
  test.each(ways)(
    'asks for the place that %j leads to, and without leave learns nothing',
    async (path, target) => {
      const { session, model } = await runtime.session([
        callTools({ id: 'c1', name, arguments: argumentsFor(path) }),
        say('done'),
      ]);
      await session.send('Go');
      const { data } = await session.next('permission.requested');
      expect(data.promptRequest).toMatchObject({ kind: 'path', paths: expect.arrayContaining([target()]) });
      await session.decide(data.requestId, { kind: 'reject', feedback: 'no' });
      await session.next('session.idle');
      expect(JSON.stringify(model.requests)).not.toMatch(/(?:outer|deep) secret/);
      if (target().startsWith(outside()))
        expect(readFileSync(target(), 'utf8')).toMatch(/^(?:outer|deep) secret$/);
    },
  );
});

test.each(['out/new.txt', '../outside/new.txt', 'sub/relative-out/new.txt', 'nothing'])(
  'create asks for the place that %j leads to, or does not write through a link',
  async (path) => {
    const { session } = await runtime.session([
      callTools({ id: 'c1', name: 'create', arguments: { path, file_text: 'x' } }),
      say('done'),
    ]);
    await session.call('session.permissions.configure', {
      rules: { approved: [{ kind: 'write', argument: null }], denied: [] },
    });
    await session.send('Go');
    const isAsked = path !== 'nothing';
    if (isAsked) {
      const { data } = await session.next('permission.requested');
      expect(data.promptRequest).toMatchObject({ kind: 'path', accessKind: 'write' });
      await session.decide(data.requestId, { kind: 'reject', feedback: 'no' });
    }
    await session.next('session.idle');
    for (const made of [outside('new.txt'), outside('deep', 'new.txt'), outside('not-there.txt')])
      expect(existsSync(made)).toBe(false);
  },
);

test.each([
  ['a\nb.txt', 'in two lines'],
  ['-rf', 'like a flag'],
  [' ', 'a blank'],
  ['~', 'a tilde'],
  ['$HOME', 'a variable'],
  ['*', 'a star'],
  ['‮gnp.exe', 'turned round'],
  ['é', 'composed'],
])('an odd name, %j, is a file of the working directory like any other', async (name) => {
  const { session } = await runtime.session([
    callTools({ id: 'c1', name: 'create', arguments: { path: name, file_text: 'odd' } }),
    callTools({ id: 'c2', name: 'view', arguments: { path: name } }),
    say('done'),
  ]);
  await session.call('session.permissions.setMode', { mode: 'allow-all' });
  const lines = story(await session.turn('Go')).filter((line) =>
    line.startsWith('tool.execution_complete c2'),
  );
  expect(lines).toEqual(['tool.execution_complete c2 ok "1. odd"']);
  expect(readFileSync(inside(name), 'utf8')).toBe('odd');
});

test('a file with another name outside keeps what that one has', async () => {
  writeFileSync(outside('linked.txt'), 'theirs');
  linkSync(outside('linked.txt'), inside('linked.txt'));
  const { session } = await runtime.session([
    callTools({
      id: 'c1',
      name: 'edit',
      arguments: { path: 'linked.txt', old_str: 'theirs', new_str: 'ours' },
    }),
    say('done'),
  ]);
  await session.call('session.permissions.setMode', { mode: 'allow-all' });
  await session.turn('Go');
  expect([readFileSync(inside('linked.txt'), 'utf8'), readFileSync(outside('linked.txt'), 'utf8')]).toEqual([
    'ours',
    'theirs',
  ]);
});

test('commands approved for the session are asked about again when a link leads out', async () => {
  const bash = (command: string, id: string) =>
    callTools({ id, name: 'bash', arguments: { command, description: 'Reads' } });
  const { session } = await runtime.session([
    bash('cat sub/none', 'c1'),
    bash('cat out/secret.txt', 'c2'),
    bash('cat file-out.txt', 'c3'),
    say('done'),
  ]);
  await session.send('Go');
  const first = await session.next('permission.requested');
  const approval = { kind: 'commands', commandIdentifiers: ['cat'] };
  await session.decide(first.data.requestId, { kind: 'approve-for-session', approval });
  for (const id of ['c2', 'c3']) {
    const { data } = await session.next('permission.requested');
    expect(data.permissionRequest.toolCallId).toBe(id);
    await session.decide(data.requestId, { kind: 'user-not-available' });
  }
  await session.next('session.idle');
});

test.each([
  ['grep', { pattern: 'physical', path: 'out/../sub', output_mode: 'content' }],
  ['glob', { pattern: '*.txt', paths: 'out/../sub' }],
  ['glob', { pattern: 'out/../sub/*.txt' }],
])('%s goes where %j was judged to lead, not where the system would take it', async (name, args) => {
  mkdirSync(join(runtime.home.path, 'sub'), { recursive: true });
  writeFileSync(join(runtime.home.path, 'sub', 'physical.txt'), 'physical leak');
  const { session, model } = await runtime.session([
    callTools({ id: 'c1', name, arguments: args }),
    say('done'),
  ]);
  await session.call('session.permissions.configure', { approveAllReadPermissionRequests: true });
  await session.call('session.permissions.setRequired', { required: false });
  await session.turn('Go');
  const received = model.requests[1]?.body.messages.findLast(({ role }) => role === 'tool')?.content;
  expect(received).not.toMatch(/leak|physical\.txt/);
});
