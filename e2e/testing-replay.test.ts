import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callTools, hold, liveRuntime, refuse, say, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { runtimePath } from './sdk-world.js';

const live = liveRuntime();

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** `groundcrew replay`, as a user starts it, with nothing of this process's environment. */
function replay(...args: readonly string[]): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME: live.home.path, GROUNDCREW_HOME: live.home.path };
  return new Promise((resolve) => {
    execFile(process.execPath, [runtimePath, 'replay', ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

async function replayed({ sessionId }: WireSession): Promise<Ended> {
  const before = (await readdir(tmpdir())).filter((name) => name.startsWith('groundcrew-replay-'));
  const ended = await replay(sessionId);
  const after = (await readdir(tmpdir())).filter((name) => name.startsWith('groundcrew-replay-'));
  expect(after).toEqual(before);
  return ended;
}

const same = (session: WireSession, events: number): Ended => ({
  code: 0,
  stdout: `${session.sessionId}: all ${events} events are the same.\n`,
  stderr: '',
});

const deploy = { name: 'deploy', description: 'Deploys', parameters: { type: 'object' } };

test('a model that was chosen before the first prompt, and another one later, are chosen again', async () => {
  const { session } = await live.session([say('One.'), say('Two.')], { model: undefined });
  await session.call('session.model.switchTo', { modelId: 'first-choice' });
  await session.turn('Hello');
  await session.call('session.model.switchTo', { modelId: 'second-choice' });
  await session.turn('Again');
  const events = (await session.stored()).filter(
    ({ type }) => !/^(session\.(start|warning)|system\.message)$/.test(type),
  );
  expect(await replayed(session)).toEqual(same(session, events.length));
});

test('tools of all kinds, decisions and several prompts happen again, and nothing is run', async () => {
  const path = join(live.workingDirectory, 'new.txt');
  const { session } = await live.session(
    [
      callTools(
        { id: 'c1', name: 'create', arguments: { path, file_text: 'x' } },
        { id: 'c2', name: 'deploy', arguments: { to: 'here' } },
        { id: 'c3', name: 'unheard_of', arguments: {} },
      ),
      say('Done.'),
      callTools({ id: 'c4', name: 'bash', arguments: { command: 'echo hi', description: 'Says hi' } }),
      say('You said no.'),
    ],
    { tools: [deploy] },
  );
  await session.send('Make it');
  const asking = [await session.next('permission.requested'), await session.next('permission.requested')];
  const decide = (kind: string) => {
    const question = asking.find(({ data }) => data.permissionRequest.kind === kind);
    return session.decide(question?.data.requestId ?? '', { kind: 'approve-once' });
  };
  await decide('custom-tool');
  const asked = await session.next('external_tool.requested');
  await session.answerTool(asked.data.requestId, { result: 'deployed' });
  await decide('write');
  await session.untilIdle();
  await session.send('And say hi');
  const question = await session.next('permission.requested');
  await session.decide(question.data.requestId, { kind: 'reject', feedback: 'too loud' });
  await session.untilIdle();
  rmSync(path);
  const events = (await session.stored()).filter(
    ({ type }) => !/^(session\.start|system\.message)$/.test(type),
  );
  expect(await replayed(session)).toEqual(same(session, events.length));
  expect(await readdir(live.workingDirectory)).not.toContain('new.txt');
});

test('prompts that came while a turn ran come again in their places', async () => {
  const first = hold(callTools({ id: 'q1', name: 'view', arguments: { path: live.workingDirectory } }));
  const { session, model } = await live.session([first.reply, say('two'), say('three'), say('four')], {});
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.send('one');
  await model.asked(1);
  await session.send('by the way', { mode: 'immediate' });
  await session.send('and then');
  await session.send('and last');
  first.release();
  await session.untilIdle();
  const prompts = session.events.filter(({ type }) => type === 'user.message');
  expect(prompts).toHaveLength(4);
  expect((await replayed(session)).code).toBe(0);
});

test('stops, failures and changes happen again', async () => {
  const held = hold();
  const { session, model } = await live.session([
    held.reply,
    refuse(400, 'that is too much'),
    callTools({ id: 's1', name: 'bash', arguments: { command: 'ls', description: 'Lists' } }),
    say('fine'),
  ]);
  await session.send('think');
  await model.asked(1);
  await session.call('session.abort');
  await session.untilIdle();
  held.release();
  await session.turn('try');
  await session.call('session.model.switchTo', { modelId: 'another' });
  await session.call('session.mode.set', { mode: 'plan' });
  await session.send('list');
  await session.next('permission.requested');
  await session.call('session.abort');
  await session.untilIdle();
  await session.turn('again');
  expect((await replayed(session)).stdout).toMatch(/: all \d+ events are the same\.\n$/);
});

test('a model chosen while a turn ran is chosen again, before what waits', async () => {
  const first = hold(say('one'));
  const { session, model } = await live.session([first.reply, say('two'), say('three')], {});
  await session.send('one');
  await model.asked(1);
  await session.call('session.model.switchTo', { modelId: 'another' });
  await session.send('and then');
  first.release();
  await session.untilIdle();
  await session.turn('at last');
  expect((await replayed(session)).stdout).toMatch(/: all 13 events are the same\.\n$/);
});

test('another model answers again in the place of one that was rate limited, or does not', async () => {
  const limited = refuse(429, 'slow down', { 'retry-after': '90000' });
  const model = live.script(limited, say('one'), say('two'), limited);
  const environment = { COPILOT_API_URL: model.baseUrl, GH_TOKEN: 'token-1' };
  const client = await live.connect(live.spawn({ flags: ['--stdio'], environment }));
  const answers = ['yes', 'no'];
  client.answer = async () => ({ response: answers.shift() });
  const session = await client.create({ requestAutoModeSwitch: true });
  await session.turn('one');
  await session.call('session.model.switchTo', { modelId: 'first-model' });
  await session.turn('two');
  await session.turn('three');
  await client.close();
  expect(answers).toEqual([]);
  expect((await replayed(session)).stdout).toMatch(/: all \d+ events are the same\.\n$/);
});

test('a session whose directory is gone is replayed elsewhere', async () => {
  const workingDirectory = await mkdtemp(join(tmpdir(), 'groundcrew-gone-'));
  const { session } = await live.session(
    [
      callTools({ id: 'g1', name: 'view', arguments: { path: workingDirectory } }),
      say(`seen ${workingDirectory}`),
    ],
    { workingDirectory },
  );
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.turn('look');
  rmSync(workingDirectory, { recursive: true });
  expect((await replayed(session)).code).toBe(0);
});

test('the first event that differs is named, and so is what differs in it', async () => {
  const path = join(live.workingDirectory, 'notes.txt');
  writeFileSync(path, 'one\ntwo\n');
  const { session } = await live.session([say('Two lines.')]);
  await session.turn('How long is it?', { attachments: [{ type: 'file', path, displayName: 'notes.txt' }] });
  expect((await replayed(session)).code).toBe(0);
  writeFileSync(path, 'one\ntwo\nthree\n');
  const { code, stdout } = await replayed(session);
  expect([code, stdout.split('\n')[0]]).toEqual([
    1,
    expect.stringMatching(
      `^${session.sessionId}: event \\d of \\d+ differs in data\\.(transformedContent|attachments.*)\\.$`,
    ),
  ]);
  const inJson = JSON.parse((await replay(session.sessionId, '--json')).stdout);
  expect(inJson).toMatchObject({
    sessionId: session.sessionId,
    isSame: false,
    difference: { recorded: { type: 'user.message' }, replayed: { type: 'user.message' } },
  });
});

test('a session that waits for an answer is replayed as far as it got', async () => {
  const { session } = await live.session([
    callTools({ id: 'w1', name: 'bash', arguments: { command: 'ls', description: 'Lists' } }),
  ]);
  await session.send('list');
  await session.next('permission.requested');
  expect(await replayed(session)).toEqual(same(session, 5));
  await session.call('session.abort');
  await session.untilIdle();
});

test('wrong usage is distinguished from a difference', async () => {
  expect(await replay('no-such-session')).toEqual({
    code: 2,
    stdout: '',
    stderr: 'groundcrew: There is no session no-such-session\n',
  });
  expect((await replay()).code).toBe(2);
  expect((await replay('a', 'b')).code).toBe(2);
  expect(await replay('--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Exit codes: 0 the same'),
  });
});
