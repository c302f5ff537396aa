import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say, story, type WireSession } from '@groundcrew/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import { asked } from './asked.js';

const runtime = liveRuntime();
const bookFile = () => join(runtime.home.path, 'permissions-config.json');
const place = (...names: string[]) => join(realpathSync(runtime.workingDirectory), ...names);
const book = (): Record<string, unknown> => JSON.parse(readFileSync(bookFile(), 'utf8'));
const done = { success: true };

const bash = (command: string, id = 'c1') =>
  callTools({ id, name: 'bash', arguments: { command, description: 'Runs it' } });
const view = (path: string, id = 'c1') => callTools({ id, name: 'view', arguments: { path } });
const fetchPage = (url: string, id = 'c1') => callTools({ id, name: 'web_fetch', arguments: { url } });
const permissions = <T = Record<string, unknown>>(
  session: WireSession,
  method: string,
  params: object = {},
) => session.call<T>(`session.permissions.${method}`, params);

beforeEach(() => rmSync(bookFile(), { force: true }));

describe('modes', () => {
  test('a mode is set, broadcast, and kept', async () => {
    const { session, model } = await runtime.session([bash('echo one > made.txt'), say('done'), say('more')]);
    expect(await permissions(session, 'getMode')).toEqual({ mode: 'manual' });
    expect(await permissions(session, 'setMode', { mode: 'allow-all', source: 'rpc' })).toEqual({
      ...done,
      mode: 'allow-all',
    });
    expect((await session.next('session.permissions_changed')).data).toEqual({
      previousMode: 'manual',
      mode: 'allow-all',
    });
    expect(await asked(session, 'Write')).toBe(0);
    expect(readFileSync(place('made.txt'), 'utf8')).toBe('one\n');
    await session.call('session.destroy');
    const again = await runtime.client.resume(session.sessionId, providerOf(model));
    expect(await permissions(again, 'getMode')).toEqual({ mode: 'allow-all' });
  });

  test('the same mode again is not broadcast, and an unknown mode is refused', async () => {
    const { session } = await runtime.session([]);
    await permissions(session, 'setMode', { mode: 'manual' });
    const failure = await session.failure('session.permissions.setMode', { mode: 'never' });
    expect(failure).toMatchObject({ code: -32602 });
    expect(story(session.events)).not.toContain('session.permissions_changed');
  });

  test('releases before 1.0.13 set the same modes in their own words', async () => {
    const { session } = await runtime.session([]);
    const set = (params: object) => permissions(session, 'setAllowAll', params);
    expect(await permissions(session, 'getAllowAll')).toEqual({ enabled: false, mode: 'off' });
    expect(await set({ enabled: true, model: 'unused' })).toEqual({ ...done, enabled: true, mode: 'on' });
    expect(await permissions(session, 'getMode')).toEqual({ mode: 'allow-all' });
    expect(await set({ mode: 'auto', model: 'small', enabled: null })).toEqual({
      ...done,
      enabled: false,
      mode: 'auto',
    });
    expect(await permissions(session, 'getMode')).toEqual({ mode: 'assisted' });
    expect(await permissions(session, 'getAllowAll')).toEqual({ enabled: false, mode: 'auto' });
    expect(await set({})).toEqual({ ...done, enabled: false, mode: 'off' });
    const changes = session.events.filter(({ type }) => type === 'session.permissions_changed');
    expect(changes.map(({ data }) => data)).toEqual([
      { previousMode: 'manual', mode: 'allow-all' },
      { previousMode: 'allow-all', mode: 'assisted', assistedApprovalModel: 'small' },
      { previousMode: 'assisted', mode: 'manual' },
    ]);
    for (const bad of [{ mode: 'yes' }, { enabled: 'true' }])
      expect(await session.failure('session.permissions.setAllowAll', bad)).toMatchObject({ code: -32602 });
  });

  test('assisted lets run what certainly only reads inside, and asks about the rest', async () => {
    const replies = [bash('ls'), say('1'), view('/etc/hostname'), say('2'), bash('touch x'), say('3')];
    const { session } = await runtime.session(replies);
    await permissions(session, 'setMode', { mode: 'assisted', assistedApprovalModel: 'small' });
    expect((await session.next('session.permissions_changed')).data).toEqual({
      previousMode: 'manual',
      mode: 'assisted',
      assistedApprovalModel: 'small',
    });
    expect(await asked(session, 'List')).toBe(0);
    expect(await asked(session, 'Read what is outside')).toBe(1);
    expect(await asked(session, 'Touch')).toBe(1);
  });
});

describe('rules of a session', () => {
  test('rules that allow are added and removed', async () => {
    const { session } = await runtime.session(
      [1, 2, 3].flatMap((id) => [bash('touch one', `c${id}`), say('x')]),
    );
    const rule = { kind: 'commands', argument: 'touch' };
    expect(await permissions(session, 'modifyRules', { scope: 'session', add: [rule] })).toEqual(done);
    expect(await asked(session, 'Touch')).toBe(0);
    await permissions(session, 'modifyRules', {
      scope: 'session',
      remove: [{ kind: 'shell', argument: 'touch' }],
    });
    expect(await asked(session, 'Touch')).toBe(1);
    await permissions(session, 'modifyRules', { scope: 'location', add: [rule] });
    expect(book()).toEqual({ locations: { [place()]: { tool_approvals: [], rules: [rule] } } });
    expect(await asked(session, 'Touch')).toBe(0);
    await permissions(session, 'modifyRules', { scope: 'location', removeAll: true });
    expect(book()).toEqual({ locations: {} });
  });

  test('what a client configures to be denied is denied, whatever is approved, and after a restart', async () => {
    const { session, model } = await runtime.session([
      bash('touch no'),
      say('1'),
      bash('touch no', 'c2'),
      say('2'),
    ]);
    const denied = [{ kind: 'shell', argument: 'touch' }];
    await permissions(session, 'configure', {
      approveAllToolPermissionRequests: true,
      rules: { approved: [{ kind: 'shell', argument: null }], denied },
    });
    await permissions(session, 'setMode', { mode: 'allow-all' });
    await session.turn('Touch');
    await session.call('session.destroy');
    const again = await runtime.client.resume(session.sessionId, providerOf(model));
    const complete = story(await again.turn('Touch')).find((line) =>
      line.startsWith('tool.execution_complete'),
    );
    expect(complete).toBe('tool.execution_complete c2 denied "Permission denied by rules: shell(touch)"');
    expect(existsSync(place('no'))).toBe(false);
  });

  test('more rules than can be looked at before each call are refused, and those before them stay', async () => {
    const { session } = await runtime.session([bash('touch no'), say('1')]);
    const some = (length: number) =>
      Array.from({ length }, (_, index) => ({ kind: 'shell', argument: `touch no${index}` }));
    const denied = [{ kind: 'shell', argument: 'touch no' }];
    await permissions(session, 'configure', { rules: { approved: some(2000), denied } });
    const refused = async (method: string, params: object) =>
      (
        await runtime.client.failure(`session.permissions.${method}`, {
          sessionId: session.sessionId,
          ...params,
        })
      ).message;
    const most = 'A session has at most 2000';
    expect([
      await refused('configure', { rules: { approved: some(2001), denied: [] } }),
      await refused('configure', { rules: { approved: [], denied: some(20_000) } }),
      await refused('configure', { urls: { initialAllowed: some(3000).map(({ argument }) => argument) } }),
      await refused('configure', {
        additionalContentExclusionPolicies: [
          { rules: [{ paths: some(2001).map(({ argument }) => argument) }] },
        ],
      }),
      await refused('configure', {
        rules: { approved: [], denied: [{ kind: 'path', argument: '*'.repeat(5000) }] },
      }),
      await refused('modifyRules', { scope: 'session', add: [{ kind: 'shell', argument: 'one more' }] }),
      await refused('modifyRules', { scope: 'location', add: some(2001) }),
    ]).toEqual([
      expect.stringContaining(`${most} rules that allow; these are 2001.`),
      expect.stringContaining(`${most} rules that deny; these are 20000.`),
      expect.stringContaining(`${most} addresses; these are 3000.`),
      expect.stringContaining(`${most} rules that deny; these are 2001.`),
      expect.stringContaining('A rule has at most 4096 characters; this one has 5000.'),
      expect.stringContaining(`${most} rules that allow; these are 2001.`),
      expect.stringContaining(`${most} rules that allow; these are 2001.`),
    ]);
    expect(story(await session.turn('Touch'))).toContain(
      'tool.execution_complete c1 denied "Permission denied by rules: shell(touch no)"',
    );
  });

  test('files that a policy excludes are not read', async () => {
    writeFileSync(place('excluded.txt'), 'hidden');
    const { session } = await runtime.session([view('excluded.txt'), say('1')]);
    await permissions(session, 'configure', {
      additionalContentExclusionPolicies: [
        { rules: [{ paths: ['**/excluded.*'], source: { name: 'us', type: 'org' } }], scope: 'all' },
      ],
    });
    expect(story(await session.turn('Read'))).toContain(
      'tool.execution_complete c1 denied "Permission denied by rules: path(**/excluded.*) (content exclusion of us)"',
    );
  });

  test('a client that said that it answers may take it back', async () => {
    const { session } = await runtime.session([bash('touch x'), say('1'), bash('touch x', 'c2'), say('2')]);
    expect(await permissions(session, 'setRequired', { required: false })).toEqual(done);
    expect(story(await session.turn('Touch'))).toContain(
      'tool.execution_complete c1 denied "Permission denied and could not request permission from user"',
    );
    expect(await permissions(session, 'setRequired', { required: true })).toEqual(done);
    expect(await asked(session, 'Touch')).toBe(1);
    expect(await permissions(session, 'notifyPromptShown', { message: 'Seen' })).toEqual(done);
  });

  test('switches that permit much at once end with the session in memory', async () => {
    const { session, model } = await runtime.session([
      bash('touch x'),
      say('1'),
      bash('touch x', 'c2'),
      say('2'),
    ]);
    await permissions(session, 'setApproveAll', { enabled: true });
    expect(await permissions(session, 'getMode')).toEqual({ mode: 'manual' });
    expect(await asked(session, 'Touch')).toBe(0);
    await session.call('session.destroy');
    const again = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      requestPermission: true,
    });
    expect(await asked(again, 'Touch')).toBe(1);
  });
});

describe('places', () => {
  test('directories are named on create, configured and added; files in them need one question, not two', async () => {
    const extra = join(realpathSync(runtime.home.path), 'extra');
    const more = join(realpathSync(runtime.home.path), 'more');
    for (const directory of [extra, more]) mkdirSync(directory, { recursive: true });
    writeFileSync(join(extra, 'a'), 'a');
    writeFileSync(join(more, 'a'), 'a');
    const { session } = await runtime.session(
      [
        view(join(extra, 'a')),
        say('1'),
        view(join(more, 'a'), 'c2'),
        say('2'),
        view(join(more, 'a'), 'c3'),
        say('3'),
      ],
      { additionalDirectories: [extra] },
    );
    const { directories, primary } = await permissions<{ directories: string[]; primary: string }>(
      session,
      'paths.list',
    );
    expect({ primary, directories: directories.slice(0, 2) }).toEqual({
      primary: runtime.workingDirectory,
      directories: [runtime.workingDirectory, extra],
    });
    expect(await asked(session, 'Read')).toBe(1);
    expect(await asked(session, 'Read')).toBe(2);
    expect(await permissions(session, 'paths.add', { path: more })).toEqual(done);
    expect(await asked(session, 'Read')).toBe(1);
  });

  test('a path is inside by where it leads, not by how it is called', async () => {
    const { session } = await runtime.session([]);
    symlinkSync('/etc', place('way-out'));
    const isAllowed = (path: string) =>
      permissions(session, 'paths.isPathWithinAllowedDirectories', { path });
    expect(await isAllowed(place('a'))).toEqual({ allowed: true });
    expect(await isAllowed('a')).toEqual({ allowed: true });
    expect(await isAllowed(place('way-out', 'passwd'))).toEqual({ allowed: false });
    expect(await isAllowed(place('..', 'a'))).toEqual({ allowed: false });
    await permissions(session, 'configure', { paths: { unrestricted: true } });
    expect(await isAllowed('/etc/passwd')).toEqual({ allowed: true });
  });

  test('the primary directory can be another one', async () => {
    const { session } = await runtime.session([]);
    mkdirSync(place('primary'), { recursive: true });
    expect(await permissions(session, 'paths.updatePrimary', { path: place('primary') })).toEqual(done);
    expect(await permissions(session, 'paths.list')).toMatchObject({ primary: place('primary') });
    const isInside = (path: string) => permissions(session, 'paths.isPathWithinWorkspace', { path });
    expect(await isInside(place('primary', 'x'))).toEqual({ allowed: true });
    expect(await isInside(place('x'))).toEqual({ allowed: false });
  });

  test.each(['paths.add', 'paths.updatePrimary', 'folderTrust.addTrusted'])(
    '%s takes whole paths of directories only',
    async (method) => {
      const { session } = await runtime.session([]);
      const message = async (path: string) =>
        (await session.failure(`session.permissions.${method}`, { path })).message;
      const failed = `Request session.permissions.${method} failed with message: `;
      expect(await message('sub')).toBe(`${failed}Directory path must be absolute: sub`);
      expect(await message('/not/there')).toBe(
        `${failed}Directory does not exist or cannot be accessed: /not/there`,
      );
    },
  );

  test('trust in a folder is kept, and reaches what is in it', async () => {
    const { session } = await runtime.session([]);
    mkdirSync(place('trusted', 'inner'), { recursive: true });
    const isTrusted = (path: string) => permissions(session, 'folderTrust.isTrusted', { path });
    expect(await isTrusted(place('trusted'))).toEqual({ trusted: false });
    await permissions(session, 'folderTrust.addTrusted', { path: place('trusted') });
    expect(await isTrusted(place('trusted', 'inner'))).toEqual({ trusted: true });
    expect(await isTrusted(place('trusted-not'))).toEqual({ trusted: false });
    expect(book()).toEqual({ locations: {}, trusted_folders: [place('trusted')] });
  });

  test('any address may be let through, until it is not', async () => {
    const { session } = await runtime.session([
      fetchPage('http://a.invalid'),
      say('1'),
      fetchPage('http://a.invalid', 'c2'),
      say('2'),
    ]);
    await permissions(session, 'urls.setUnrestrictedMode', { enabled: true });
    expect(await asked(session, 'Fetch')).toBe(0);
    await permissions(session, 'urls.setUnrestrictedMode', { enabled: false });
    expect(await asked(session, 'Fetch')).toBe(1);
  });
});
