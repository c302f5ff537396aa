import { randomUUID } from 'node:crypto';
import { callTools, liveRuntime, providerOf, say, story, type WireClient } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--no-auto-update', '--log-level', 'error', '--port', '0'] });
const look = callTools({ id: 'c1', name: 'look', arguments: {} });

/** How the clients of one release speak, as far as it matters to shared and pending work. */
interface Release {
  readonly name: string;
  readonly greet: (client: WireClient) => Promise<void>;
  /** Sent with every create and resume. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly approval: object;
  readonly refusal: object;
}

/** Clients before `connect` ping, read the time as a number, and accept the protocols 2 and 3. */
async function ping(client: WireClient): Promise<void> {
  expect(await client.call('ping', { message: null })).toEqual({
    message: 'pong',
    timestamp: expect.any(Number),
    protocolVersion: 2,
  });
}

async function connect(client: WireClient): Promise<void> {
  expect(await client.call('connect', {})).toMatchObject({ ok: true, protocolVersion: 3 });
}

const releases: readonly Release[] = [
  {
    name: '0.2.x',
    greet: ping,
    settings: { requestPermission: true, envValueMode: 'direct', toolFilterPrecedence: null },
    approval: { kind: 'approved', rules: null },
    refusal: { kind: 'denied-interactively-by-user', feedback: null },
  },
  {
    name: '0.3.0',
    greet: ping,
    settings: {
      requestPermission: true,
      envValueMode: 'direct',
      defaultAgent: null,
      gitHubToken: null,
      toolFilterPrecedence: null,
    },
    approval: { kind: 'approve-once' },
    refusal: { kind: 'reject', feedback: null },
  },
  {
    name: '1.0.0-beta',
    greet: connect,
    settings: {
      requestPermission: true,
      envValueMode: 'direct',
      requestExitPlanMode: false,
      requestAutoModeSwitch: false,
      toolFilterPrecedence: null,
    },
    approval: { kind: 'approve-once' },
    refusal: { kind: 'reject' },
  },
];

describe.each(releases)('a client of $name', ({ greet, settings, approval, refusal }) => {
  async function client(): Promise<WireClient> {
    const wire = await runtime.connect();
    await greet(wire);
    return wire;
  }

  test('shares a session: its decision counts, the tool of the first client stays, the second answer is late', async () => {
    const model = runtime.script(look, say('seen'));
    const [one, two] = [await client(), await client()];
    const ours = await one.create({
      sessionId: randomUUID(),
      ...settings,
      ...providerOf(model),
      tools: [{ name: 'look' }],
    });
    const theirs = await two.resume(ours.sessionId, settings);
    await ours.send('Look', { attachments: null, mode: null });
    const asked = await theirs.next('permission.requested');
    expect(await theirs.decide(asked.data.requestId, approval)).toEqual({ success: true });
    expect(await ours.decide(asked.data.requestId, approval)).toEqual({ success: false });
    for (const session of [ours, theirs])
      expect((await session.next('permission.completed')).data.result).toMatchObject({ kind: 'approved' });
    const { data } = await ours.next('external_tool.requested');
    expect(await ours.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await Promise.all([ours.next('session.idle'), theirs.next('session.idle')]);
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
  });

  test('a refusal without a word ends the turn', async () => {
    const model = runtime.script(look, say('never'));
    const session = await (await client()).create({
      sessionId: randomUUID(),
      ...settings,
      ...providerOf(model),
      tools: [{ name: 'look' }],
    });
    await session.send('Look');
    const { data } = await session.next('permission.requested');
    await session.decide(data.requestId, refusal);
    await session.next('session.idle');
    expect(model.requests).toHaveLength(1);
  });

  test('resumes without tools a session whose client is gone, and answers the open call', async () => {
    const model = runtime.script(look, say('seen'));
    const one = await client();
    const ours = await one.create({
      sessionId: randomUUID(),
      ...settings,
      ...providerOf(model),
      tools: [{ name: 'look', skipPermission: true }],
    });
    await ours.send('Look');
    const { data } = await ours.next('external_tool.requested');
    await one.close();
    const theirs = await (await client()).resume(ours.sessionId, settings);
    expect((await theirs.next('session.resume')).data.sessionWasActive).toBe(true);
    expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
  });

  test('continues after kill -9: the old request ids hold', async () => {
    const model = runtime.script(look, say('seen'));
    const doomed = runtime.spawn({ flags: ['--no-auto-update', '--stdio'] });
    const before = await runtime.connect(doomed);
    await greet(before);
    const ours = await before.create({
      sessionId: randomUUID(),
      ...settings,
      ...providerOf(model),
      tools: [{ name: 'look' }],
    });
    await ours.send('Look');
    const asked = await ours.next('permission.requested');
    await doomed.signal('SIGKILL');
    const theirs = await (await client()).resume(ours.sessionId, {
      ...settings,
      ...providerOf(model),
      tools: [{ name: 'look' }],
      continuePendingWork: true,
    });
    expect(await theirs.decide(asked.data.requestId, approval)).toEqual({ success: true });
    const { data } = await theirs.next('external_tool.requested');
    expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
  });
});

describe('answers are in the shapes that each release parses', () => {
  /** A client of this release; the tables that the others are held to are those of the newest. */
  async function sessionOf(greet: Release['greet'], params: object, process = runtime.process) {
    const wire = await runtime.connect(process, { hasGaps: true });
    await greet(wire);
    return wire.create({ sessionId: randomUUID(), toolFilterPrecedence: null, ...params });
  }

  test('objects for mode, plan and workspace before 0.3.0, under the names of then', async () => {
    const session = await sessionOf(ping, { envValueMode: 'direct' });
    expect(await session.call('session.mode.get')).toEqual({ mode: 'interactive' });
    expect(await session.call('session.mode.set', { mode: 'plan' })).toMatchObject({ mode: 'plan' });
    expect(await session.call('session.mode.get')).toEqual({ mode: 'plan' });
    expect(await session.call('session.plan.update', { content: 'x' })).toEqual({});
    expect(await session.call('session.plan.read')).toMatchObject({ exists: true, content: 'x' });
    expect(await session.call('session.plan.delete')).toEqual({});
    const file = { path: 'a.txt', content: 'A' };
    expect(await session.call('session.workspace.createFile', file)).toEqual({});
    expect(await session.call('session.workspace.listFiles')).toEqual({ files: ['a.txt'] });
    expect(await session.call('session.workspace.readFile', file)).toEqual({ content: 'A' });
    expect(await session.failure('session.workspace.nothing')).toMatchObject({
      code: -32601,
      message: 'Unhandled method session.workspace.nothing',
    });
  });

  test.each([
    ['0.3.0', ping, { includeSubAgentStreamingEvents: true }],
    ['1.0.0-beta.4', connect, { includeSubAgentStreamingEvents: true }],
    ['the newest', connect, { toolFilterPrecedence: 'excluded' }],
  ])('a bare mode and nothing for the plan from 0.3.0 on: %s', async (_name, greet, params) => {
    const session = await sessionOf(greet, params);
    expect(await session.call('session.mode.get')).toBe('interactive');
    expect(await session.call('session.mode.set', { mode: 'plan' })).toEqual({
      status: 'unchanged',
      modelChanged: false,
    });
    expect(await session.call('session.plan.update', { content: 'x' })).toBeNull();
    expect(await session.call('session.plan.delete')).toBeNull();
  });

  test.each([
    ['in a process that it started', ['--server', '--stdio']],
    ['on a port that others use too', ['--port', '0']],
  ])('the newest client for Java is not old: %s', async (_where, flags) => {
    const process = runtime.spawn({ flags: ['--no-auto-update', '--log-level', 'error', ...flags] });
    const intent = callTools({ id: 'c1', name: 'report_intent', arguments: { intent: 'x' } });
    const model = runtime.script(intent, say('done'));
    const java = { requestPermission: true, envValueMode: 'direct', ...providerOf(model) };
    const session = await sessionOf(connect, java, process);
    await session.turn('Hello');
    expect(JSON.stringify(model.requests[0]?.body)).not.toContain('report_intent');
    await session.call('session.model.switchTo', { modelId: 'other' });
    expect((await session.next('session.model_change')).data).toMatchObject({ source: 'sdk' });
  });

  test('the same without `connect` is old', async () => {
    const process = runtime.spawn({ flags: ['--server', '--no-auto-update', '--stdio'] });
    const model = runtime.script(say('done'));
    const session = await sessionOf(ping, { envValueMode: 'direct', ...providerOf(model) }, process);
    await session.turn('Hello');
    expect(JSON.stringify(model.requests[0]?.body)).toContain('report_intent');
    await session.call('session.model.switchTo', { modelId: 'other' });
    expect((await session.next('session.model_change')).data).not.toHaveProperty('source');
  });
});
