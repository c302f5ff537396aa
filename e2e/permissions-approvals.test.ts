import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say, type WireSession } from '@groundcrew/testkit';
import { beforeEach, describe, expect, test } from 'vitest';
import { asked } from './asked.js';

const runtime = liveRuntime();
const bookFile = () => join(runtime.home.path, 'permissions-config.json');
const place = (...names: string[]) => join(realpathSync(runtime.workingDirectory), ...names);
const book = (): Record<string, unknown> => JSON.parse(readFileSync(bookFile(), 'utf8'));
const done = { success: true };

const bash = (command: string, id = 'c1') =>
  callTools({ id, name: 'bash', arguments: { command, description: 'Runs it' } });
const fetchPage = (url: string, id = 'c1') => callTools({ id, name: 'web_fetch', arguments: { url } });
const permissions = <T = Record<string, unknown>>(
  session: WireSession,
  method: string,
  params: object = {},
) => session.call<T>(`session.permissions.${method}`, params);

beforeEach(() => rmSync(bookFile(), { force: true }));

describe('approvals', () => {
  test('one for the place holds in other sessions and processes, and stands in a file that is mine alone', async () => {
    const { session } = await runtime.session([bash('touch one'), say('1')]);
    const { locationKey } = await permissions<{ locationKey: string }>(session, 'locations.resolve', {
      workingDirectory: runtime.workingDirectory,
    });
    expect(locationKey).toBe(place());
    const approval = { kind: 'commands', commandIdentifiers: ['touch'] };
    expect(await asked(session, 'Touch', { kind: 'approve-for-location', approval, locationKey })).toBe(1);
    expect(book()).toEqual({ locations: { [locationKey]: { tool_approvals: [approval] } } });
    expect(statSync(bookFile()).mode & 0o777).toBe(0o600);
    const other = await runtime.session([bash('touch two'), say('2')]);
    expect(await asked(other.session, 'Touch')).toBe(0);
    const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
    const model = runtime.script(bash('touch three'), say('3'), bash('rm three'), say('4'));
    const elsewhere = await client.create(providerOf(model));
    expect(await asked(elsewhere, 'Touch')).toBe(0);
    expect(await asked(elsewhere, 'Remove')).toBe(1);
  });

  test('a second answer keeps nothing', async () => {
    const { session } = await runtime.session([bash('touch one'), say('1')]);
    await session.send('Touch');
    const { data } = await session.next('permission.requested');
    const approval = { kind: 'commands', commandIdentifiers: ['touch'] };
    await session.decide(data.requestId, { kind: 'approve-once' });
    const late = { kind: 'approve-for-location', approval, locationKey: place() };
    expect(await session.decide(data.requestId, late)).toEqual({ success: false });
    await session.next('session.idle');
    expect(existsSync(bookFile())).toBe(false);
  });

  test('two processes that keep approvals at once lose none', async () => {
    const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
    const sessions = [(await runtime.session([])).session, await client.create({})];
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        permissions(sessions[index % 2] as WireSession, 'locations.addToolApproval', {
          locationKey: `/place-${index}`,
          approval: { kind: 'custom-tool', toolName: `tool-${index}` },
        }),
      ),
    );
    expect(Object.keys(book().locations as object)).toHaveLength(20);
  });

  test('what others wrote into the file stays', async () => {
    writeFileSync(
      bookFile(),
      JSON.stringify({ other: 1, locations: { '/x': { mine: 2, tool_approvals: [] } } }),
    );
    const { session } = await runtime.session([]);
    await permissions(session, 'locations.addToolApproval', {
      locationKey: '/x',
      approval: { kind: 'read' },
    });
    expect(book()).toEqual({
      other: 1,
      locations: { '/x': { mine: 2, tool_approvals: [{ kind: 'read' }] } },
    });
  });

  test('a damaged file approves nothing, causes a warning, and is not overwritten', async () => {
    writeFileSync(bookFile(), '{"locations": [');
    const { session } = await runtime.session([bash('touch one'), say('1')]);
    await session.send('Touch');
    expect((await session.next('session.warning')).data).toMatchObject({
      warningType: 'permissions',
      message: expect.stringContaining('permissions-config.json is damaged'),
    });
    const { data } = await session.next('permission.requested');
    const approval = { kind: 'commands', commandIdentifiers: ['touch'] };
    await session.decide(data.requestId, { kind: 'approve-for-location', approval, locationKey: place() });
    expect((await session.next('session.warning')).data.message).toContain('holds for this session only');
    await session.next('session.idle');
    expect(readFileSync(bookFile(), 'utf8')).toBe('{"locations": [');
  });

  test('a host approved for good is not asked about again; another one is', async () => {
    const pages = ['http://blocked.invalid/a', 'http://www.blocked.invalid/b', 'http://other.invalid/c'];
    const { session } = await runtime.session(
      pages.flatMap((url, index) => [fetchPage(url, `c${index}`), say('x')]),
    );
    expect(await asked(session, 'Fetch', { kind: 'approve-permanently', domain: 'blocked.invalid' })).toBe(1);
    expect(book()).toEqual({ locations: {}, allowed_domains: ['blocked.invalid'] });
    expect(await asked(session, 'Fetch')).toBe(0);
    expect(await asked(session, 'Fetch', { kind: 'approve-permanently', domain: 'com' })).toBe(1);
    expect(book()).toEqual({ locations: {}, allowed_domains: ['blocked.invalid'] });
  });

  test('a host approved for the session holds for the session', async () => {
    const { session } = await runtime.session([
      fetchPage('http://blocked.invalid/a'),
      say('1'),
      fetchPage('http://blocked.invalid/b', 'c2'),
      say('2'),
    ]);
    expect(await asked(session, 'Fetch', { kind: 'approve-for-session', domain: 'blocked.invalid' })).toBe(1);
    expect(await asked(session, 'Fetch')).toBe(0);
    expect(existsSync(bookFile())).toBe(false);
  });

  test('approvals are forgotten on request, those of the place only if it is named', async () => {
    const { session } = await runtime.session(
      [1, 2, 3, 4].flatMap((id) => [bash('touch one', `c${id}`), say('x')]),
    );
    const approval = { kind: 'commands', commandIdentifiers: ['touch'] };
    await asked(session, 'Touch', { kind: 'approve-for-location', approval, locationKey: place() });
    expect(await permissions(session, 'resetSessionApprovals')).toEqual(done);
    expect(await asked(session, 'Touch')).toBe(0);
    expect(await permissions(session, 'resetSessionApprovals', { includeLocation: true })).toEqual(done);
    expect(await asked(session, 'Touch', { kind: 'approve-for-session', approval })).toBe(1);
    expect(await asked(session, 'Touch')).toBe(0);
  });

  test('approvals of another place hold once they are applied', async () => {
    mkdirSync(place('repository', '.git'), { recursive: true });
    mkdirSync(place('repository', 'inner'), { recursive: true });
    const { session } = await runtime.session([bash('touch one'), say('1')]);
    const inner = { workingDirectory: place('repository', 'inner') };
    const location = { locationKey: place('repository'), locationType: 'repo' };
    expect(await permissions(session, 'locations.resolve', inner)).toEqual(location);
    const approval = { kind: 'commands', commandIdentifiers: ['touch', 'git status'] };
    await permissions(session, 'locations.addToolApproval', { locationKey: place('repository'), approval });
    const applied = {
      ...location,
      appliedDirectoryCount: 0,
      appliedRules: [
        { kind: 'shell', argument: 'touch' },
        { kind: 'shell', argument: 'git status' },
      ],
    };
    expect(await permissions(session, 'locations.apply', inner)).toEqual({
      ...applied,
      appliedRuleCount: 2,
      changed: true,
    });
    expect(await permissions(session, 'locations.apply', inner)).toEqual({
      ...applied,
      appliedRuleCount: 0,
      changed: false,
    });
    expect(await asked(session, 'Touch')).toBe(0);
  });

  test('an approval of no known kind is refused', async () => {
    const { session } = await runtime.session([]);
    const wrong = { locationKey: '/x', approval: { kind: 'everything' } };
    expect(await session.failure('session.permissions.locations.addToolApproval', wrong)).toMatchObject({
      code: -32602,
    });
  });
});
