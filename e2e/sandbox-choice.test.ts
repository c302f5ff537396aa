import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, type WireSession } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { commandSession, noSandbox, outputs } from './sandbox-world.js';

/** Says in which world a command runs: bubblewrap is the first process of a sandbox. */
const where = 'cat /proc/1/comm';
const sandboxed = 'bwrap\n<exited with exit code 0>';

const allowAll = (session: WireSession) => session.call('session.permissions.setMode', { mode: 'allow-all' });
const warnings = (session: WireSession) =>
  session.events.filter(({ type }) => type === 'session.warning').map(({ data }) => data);

describe('where there is no sandbox', () => {
  const runtime = liveRuntime({
    flags: ['--stdio'],
    environment: { GROUNDCREW_BWRAP: '/missing/bwrap' },
  });
  const refusal = async (params: object) =>
    (await runtime.client.failure('session.create', { sessionId: 'refused', ...params })).message;
  const rules = () => join(runtime.home.path, 'permissions.json');

  test.each([
    ['the executor by name', { sandbox: 'bwrap' }],
    ['a sandbox, whichever', { sandboxConfig: { enabled: true } }],
    ['no network', { sandboxConfig: { userPolicy: { network: { allowOutbound: false } } } }],
  ])('a session that asks for %s is refused, with what to install', async (_what, params) => {
    expect(await refusal(params)).toMatch(
      /^Request session\.create failed with message: A sandbox was asked for and cannot be had: bubblewrap is not installed .*apt-get install bubblewrap/,
    );
    expect(await runtime.client.call('session.getMetadata', { sessionId: 'refused' })).toEqual({});
  });

  test('a change to it is refused as well, and nothing is changed', async () => {
    const { session } = await runtime.session([]);
    const failure = await session.failure('session.options.update', { sandbox: 'bwrap' });
    expect(failure.message).toContain('apt-get install bubblewrap');
    expect(await session.call('session.sandbox.getEnforcementStatus')).toEqual({
      required: false,
      blocked: false,
      enabled: false,
      executor: 'host',
      network: true,
    });
  });

  test('no question is asked and commands run on the host: clients get one warning', async () => {
    const session = await commandSession(runtime, ['true', 'true'], {});
    await allowAll(session);
    await session.turn('Go');
    const message = expect.stringMatching(/^Commands run without a sandbox: bubblewrap is not installed/);
    expect(warnings(session)).toEqual([{ warningType: 'sandbox', message }]);
    expect(await session.call('session.sandbox.getEnforcementStatus')).toMatchObject({
      enabled: false,
      executor: 'host',
      reason: expect.stringContaining('bubblewrap is not installed'),
    });
  });

  test('a command that could touch a denied path is asked about, whatever the mode; one that cannot is not', async () => {
    writeFileSync(rules(), JSON.stringify({ deny: [{ path: '~/.ssh' }] }));
    writeFileSync(join(runtime.workingDirectory, 'read.txt'), 'text');
    const session = await commandSession(runtime, ['cat read.txt', 'make -n', 'grep -r x .'], {
      requestPermission: true,
    });
    await allowAll(session);
    await session.send('Go');
    const asked: string[] = [];
    for (const _ of ['make', 'grep']) {
      const { data } = await session.next('permission.requested');
      asked.push(data.permissionRequest.kind === 'shell' ? data.permissionRequest.fullCommandText : '');
      await session.decide(data.requestId, { kind: 'user-not-available' });
    }
    await session.next('session.idle');
    rmSync(rules());
    expect(asked).toEqual(['make -n', 'grep -r x .']);
    expect(outputs(session.events)[0]).toBe('text\n<exited with exit code 0>');
    expect(warnings(session)).toContainEqual({
      warningType: 'permissions',
      message: expect.stringMatching(
        /^The file tools keep to the rule path\(.*\.ssh\).*commands of this session run without a sandbox\. A command that could touch such a path is asked about/,
      ),
    });
  });

  test('what no sandbox does, or contradicts itself, is refused by its name', async () => {
    const policy = (userPolicy: object) => ({ sandboxConfig: { enabled: true, userPolicy } });
    const refusals: readonly (readonly [object, string])[] = [
      [{ sandbox: 'docker' }, 'sandbox'],
      [{ sandbox: 'host', sandboxConfig: { enabled: true } }, 'contradict each other'],
      [{ sandbox: 'auto', sandboxConfig: { enabled: false } }, 'contradict each other'],
      [{ sandboxConfig: { enabled: true, allowDevToolAccess: false } }, 'allowDevToolAccess'],
      [policy({ network: { proxy: { url: 'http://localhost:1' } } }), 'network.proxy'],
      [policy({ network: { allowLocalNetwork: false } }), 'allowLocalNetwork'],
      [policy({ filesystem: { deniedPaths: ['\0'] } }), 'is no path'],
      [
        { sandbox: 'host', sandboxConfig: { userPolicy: { network: { allowOutbound: false } } } },
        'userPolicy.network.allowOutbound: false needs a sandbox, and sandbox: host is none',
      ],
      [
        { sandbox: 'off', sandboxConfig: { userPolicy: { filesystem: { deniedPaths: ['/srv'] } } } },
        'userPolicy.filesystem.deniedPaths needs a sandbox, and sandbox: off is none',
      ],
      [
        { sandbox: 'host', sandboxConfig: { addCurrentWorkingDirectory: false } },
        'addCurrentWorkingDirectory: false needs a sandbox, and sandbox: host is none',
      ],
    ];
    for (const [params, text] of refusals) expect(await refusal(params)).toContain(text);
  });
});

describe.skipIf(noSandbox !== undefined)('where there is a sandbox', () => {
  const runtime = liveRuntime();

  test('the mode decides for each command, unless the session has said it', async () => {
    const session = await commandSession(runtime, [where, where], { requestPermission: true });
    await session.send('Go');
    const { data } = await session.next('permission.requested');
    await session.decide(data.requestId, { kind: 'approve-once' });
    const second = await session.next('permission.requested');
    await session.call('session.permissions.setMode', { mode: 'assisted' });
    await session.decide(second.data.requestId, { kind: 'approve-once' });
    await session.next('session.idle');
    const [onHost, confined] = outputs(session.events);
    expect(onHost).not.toBe(sandboxed);
    expect(confined).toBe(sandboxed);
    const free = await commandSession(runtime, [where], { sandbox: 'off' });
    await allowAll(free);
    expect(outputs(await free.turn('Go'))).not.toEqual([sandboxed]);
  });

  test('a sandbox of another system is refused', async () => {
    const { message } = await runtime.client.failure('session.create', { sandbox: 'seatbelt' });
    expect(message).toContain('the sandbox seatbelt is not of this system; bwrap is, or auto');
  });

  test('what a session said of it holds after a restart, until it says otherwise', async () => {
    const sandboxConfig = { enabled: true, userPolicy: { network: { allowOutbound: false } } };
    const session = await commandSession(runtime, [], { sandboxConfig });
    await session.turn('Hello');
    await session.call('session.destroy');
    const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
    const resumed = await client.resume(session.sessionId, {});
    const status = () => resumed.call('session.sandbox.getEnforcementStatus');
    expect(await status()).toEqual({
      required: true,
      blocked: false,
      enabled: true,
      executor: 'bwrap',
      network: false,
    });
    await resumed.call('session.options.update', { sandbox: 'host' });
    expect(await status()).toMatchObject({ required: false, enabled: false, executor: 'host' });
  });

  test('the operator says it for sessions that say nothing, by a flag, the environment or the settings', async () => {
    const settings = join(runtime.home.path, 'config.json');
    const executor = async (options: Parameters<typeof runtime.spawn>[0]) => {
      const client = await runtime.connect(runtime.spawn(options));
      const session = await client.create({});
      return (await session.call('session.sandbox.getEnforcementStatus')).executor;
    };
    expect(await executor({ flags: ['--stdio'] })).toBe('host');
    expect(await executor({ flags: ['--stdio', '--sandbox', 'bwrap'] })).toBe('bwrap');
    expect(await executor({ flags: ['--stdio'], environment: { GROUNDCREW_SANDBOX: 'auto' } })).toBe('bwrap');
    writeFileSync(settings, JSON.stringify({ sandbox: { executor: 'bwrap', network: false } }));
    expect(await executor({ flags: ['--stdio'] })).toBe('bwrap');
    writeFileSync(settings, JSON.stringify({ sandbox: { netwrok: false } }));
    const broken = runtime.spawn({ flags: ['--stdio'] });
    const { code } = await broken.exited;
    rmSync(settings);
    expect([code, broken.stderr]).toEqual([
      expect.any(Number),
      expect.stringContaining('sandbox.netwrok: unknown field'),
    ]);
    expect(code).not.toBe(0);
  });

  test('a flag or a variable names the executor, and what else the settings say still holds', async () => {
    const settings = join(runtime.home.path, 'config.json');
    const status = async (options: Parameters<typeof runtime.spawn>[0]) => {
      const client = await runtime.connect(runtime.spawn(options));
      const { executor, network } = await (await client.create({})).call(
        'session.sandbox.getEnforcementStatus',
      );
      return [executor, network];
    };
    const by = (word: string) => [
      { flags: ['--stdio', '--sandbox', word] },
      { flags: ['--stdio'], environment: { GROUNDCREW_SANDBOX: word } },
    ];
    writeFileSync(settings, JSON.stringify({ sandbox: { network: false } }));
    for (const options of [...by('auto'), ...by('bwrap')])
      expect(await status(options)).toEqual(['bwrap', false]);
    for (const options of by('host')) expect(await status(options)).toEqual(['host', true]);
    writeFileSync(settings, JSON.stringify({ sandbox: { executor: 'host', writablePaths: ['/srv'] } }));
    for (const options of by('bwrap')) expect(await status(options)).toEqual(['bwrap', true]);
    rmSync(settings);
  });

  test.each([
    ['network', { network: false }],
    ['deniedPaths', { deniedPaths: ['/srv'] }],
  ])(
    'settings that name the host and %s, which only a sandbox can keep, are refused',
    async (field, more) => {
      const settings = join(runtime.home.path, 'config.json');
      writeFileSync(settings, JSON.stringify({ sandbox: { executor: 'host', ...more } }));
      const refused = runtime.spawn({ flags: ['--stdio'] });
      const { code } = await refused.exited;
      rmSync(settings);
      expect(code).not.toBe(0);
      expect(refused.stderr).toContain(
        `sandbox.${field}: needs a sandbox, and executor: host is none; leave one of them out`,
      );
    },
  );

  test('a field without effect causes a warning', async () => {
    const session = await commandSession(runtime, ['true'], {
      sandboxConfig: { enabled: true, auth: { gh: true } },
    });
    await allowAll(session);
    await session.turn('Go');
    expect(warnings(session)).toEqual([
      { warningType: 'sandbox', message: 'sandboxConfig.auth.gh has no effect.' },
    ]);
  });
});
