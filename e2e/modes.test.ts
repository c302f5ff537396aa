import {
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  say,
  story,
  type WireClient,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const call = (name: string, args: object, id = 'c1') => callTools({ id, name, arguments: args });
const exit = call('exit_plan_mode', { summary: 'Three steps', recommendedAction: 'autopilot' });
const results = (model: ScriptedModel) =>
  model.requests.at(-1)?.body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
const toolsOf = (model: ScriptedModel, nth: number) =>
  ((model.requests[nth]?.body.tools ?? []) as readonly { function: { name: string } }[]).map(
    (tool) => tool.function.name,
  );
const planned = (events: Parameters<typeof story>[0]) =>
  story(events).filter((line) => /^(exit_plan_mode|session\.mode)/.test(line));

/** A client that answers what follows a plan so, or never. */
async function answering(answer?: object): Promise<{ client: WireClient; asked: unknown[] }> {
  const client = await runtime.connect();
  const asked: unknown[] = [];
  client.answer = (method, params) => {
    asked.push({ method, params });
    return answer ? Promise.resolve(answer) : new Promise(() => undefined);
  };
  return { client, asked };
}

const options = (model: ScriptedModel) => ({ ...providerOf(model), requestExitPlanMode: true });

describe('the end of a plan', () => {
  test('is put to a client after its event; approved, the session leaves plan mode in the same turn', async () => {
    const { client, asked } = await answering({
      approved: true,
      selectedAction: 'interactive',
      feedback: 'Good',
    });
    const model = runtime.script(exit, say('building'));
    const session = await client.create(options(model));
    await session.call('session.mode.set', { mode: 'plan' });
    await session.call('session.plan.update', { content: '# Steps' });
    const events = await session.turn('Plan it');
    const request = {
      summary: 'Three steps',
      planContent: '# Steps',
      actions: ['autopilot', 'interactive', 'exit_only'],
      recommendedAction: 'autopilot',
    };
    expect(asked).toEqual([
      { method: 'exitPlanMode.request', params: { sessionId: session.sessionId, ...request } },
    ]);
    const order = client.order();
    expect(order.indexOf('exit_plan_mode.requested~')).toBeLessThan(order.indexOf('other'));
    expect(planned(events)).toEqual([
      'session.mode_changed interactive → plan',
      'exit_plan_mode.requested~',
      'session.mode_changed plan → interactive',
      'exit_plan_mode.completed~',
    ]);
    const completed = events.find(({ type }) => type === 'exit_plan_mode.completed');
    expect(completed?.data).toMatchObject({
      approved: true,
      selectedAction: 'interactive',
      feedback: 'Good',
    });
    expect(results(model)?.[0]).toMatch(
      /^Plan approved! Exited plan mode\.\n\nYou are now in interactive mode\./,
    );
    expect(await session.call('session.mode.get')).toBe('interactive');
    expect([toolsOf(model, 0), toolsOf(model, 1)].map((names) => names.includes('exit_plan_mode'))).toEqual([
      true,
      false,
    ]);
  });

  test.each([
    [
      { approved: false, feedback: 'Smaller steps' },
      'plan',
      'Plan not approved. User feedback:\n\nSmaller steps\n\n',
    ],
    [{ approved: false }, 'plan', 'Plan not approved. You are still in plan mode.'],
    [{ approved: true, selectedAction: 'autopilot' }, 'autopilot', 'You are now in autopilot mode.'],
    [
      { approved: true, selectedAction: 'exit_only' },
      'interactive',
      'does not want the plan carried out yet',
    ],
    [{ approved: true, deferImplementation: true }, 'interactive', 'does not want the plan carried out yet'],
    [{ approved: true }, 'interactive', 'You are now in interactive mode.'],
  ])('answered %j leaves the session in mode %s', async (response, mode, text) => {
    const { client } = await answering();
    const model = runtime.script(exit, call('task_complete', { summary: 'x' }, 'c2'), say('done'));
    const session = await client.create(options(model));
    await session.call('session.mode.set', { mode: 'plan' });
    await session.send('Plan it');
    const { requestId } = (await session.next('exit_plan_mode.requested')).data;
    const answer = (given: object) =>
      session.failure('session.ui.handlePendingExitPlanMode', { requestId, response: given });
    expect((await answer({ approved: true, selectedAction: 'autopilot_fleet' })).message).toContain(
      'response.selectedAction: must be one of autopilot, interactive, exit_only',
    );
    expect(await answer(response)).toEqual({ result: { success: true } });
    expect(await answer(response)).toEqual({ result: { success: false } });
    await session.next('session.idle');
    expect(String(model.requests[1]?.body.messages.at(-1)?.content)).toContain(text);
    expect(await session.call('session.mode.get')).toBe(mode);
  });

  test('outlives kill -9, is listed, and is asked again under its id', async () => {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const first = await runtime.connect(process);
    first.answer = () => new Promise(() => undefined);
    const model = runtime.script(exit, say('building'));
    const before = await first.create(options(model));
    await before.send('Plan it', { agentMode: 'plan' });
    const { data } = await before.next('exit_plan_mode.requested');
    await process.signal('SIGKILL');
    const { client, asked } = await answering();
    const after = await client.resume(before.sessionId, { ...options(model), continuePendingWork: true });
    expect((await after.next('exit_plan_mode.requested')).data).toEqual(data);
    expect(await after.call('session.questions.pending')).toEqual({
      items: [{ kind: 'exit_plan_mode', requestId: data.requestId, toolCallId: 'c1', data }],
    });
    const response = { approved: true, autoApproveEdits: true };
    expect(
      await after.call('session.ui.handlePendingExitPlanMode', { requestId: data.requestId, response }),
    ).toEqual({ success: true });
    await after.next('session.idle');
    expect(asked).toHaveLength(1);
    expect(results(model)?.[0]).toContain('You are now in interactive mode.');
  });

  test('cannot be asked for where no client answers, and fails when every client fails', async () => {
    const model = runtime.script(exit, say('plan'));
    const session = await runtime.client.create(providerOf(model));
    await session.turn('Plan it', { agentMode: 'plan' });
    expect(results(model)?.[0]).toMatch(/^Tool 'exit_plan_mode' does not exist\./);
    const other = runtime.script(exit, say('plan'));
    const asking = await runtime.client.create(options(other));
    await asking.turn('Plan it', { agentMode: 'plan' });
    expect(results(other)?.[0]).toMatch(/^The plan could not be shown/);
  });
});

describe('autopilot', () => {
  const continued = (events: Parameters<typeof story>[0]) =>
    events.filter(({ data }) => (data as { isAutopilotContinuation?: boolean }).isAutopilotContinuation);

  test('goes on until the agent says that the task is done', async () => {
    const model = runtime.script(say('half'), call('task_complete', { summary: 'All of it' }), say('bye'));
    const session = await runtime.client.create(providerOf(model));
    await session.call('session.mode.set', { mode: 'autopilot' });
    const events = await session.turn('Do it');
    expect(continued(events).map(({ data }) => (data as { content: string }).content)).toEqual(['']);
    expect(String(model.requests[1]?.body.messages.at(-1)?.content)).toContain('task_complete');
    const done = events.find(({ type }) => type === 'session.task_complete');
    expect([done?.ephemeral ?? false, done?.data]).toEqual([false, { summary: 'All of it', success: true }]);
    expect(results(model)).toEqual(['All of it']);
    expect(events.filter(({ type }) => type === 'assistant.idle')).toHaveLength(2);
  });

  test('stops after five continuations, and says so', async () => {
    const model = runtime.script(...['0', '1', '2', '3', '4', '5'].map(say));
    const session = await runtime.client.create(providerOf(model));
    const events = await session.turn('Do it', { agentMode: 'autopilot' });
    expect(continued(events)).toHaveLength(5);
    const notice = events.find(({ data }) => (data as { infoType?: string }).infoType === 'autopilot');
    expect(notice?.data).toMatchObject({ message: expect.stringContaining('after 5 continuations') });
    expect(await session.call('session.mode.get')).toBe('interactive');
  });

  test('works towards its objective until the task is done', async () => {
    const model = runtime.script(
      say('half'),
      call('task_complete', { summary: 'Planted' }),
      say('bye'),
      say('x'),
    );
    const session = await runtime.client.create(providerOf(model));
    const objective = (name: string, params: object = {}) =>
      session.call(`session.workspaces.${name}`, params);
    expect(await objective('readAutopilotObjective')).toEqual({ content: null });
    expect(await objective('deleteAutopilotObjective')).toEqual({ deleted: false });
    expect(await objective('writeAutopilotObjective', { content: 'A tree' })).toEqual({
      operation: 'create',
    });
    expect(await objective('writeAutopilotObjective', { content: 'An oak' })).toEqual({
      operation: 'update',
    });
    expect(await objective('autopilotObjectiveExists')).toEqual({ exists: true });
    for (const content of ['', ' '.repeat(9), 'x'.repeat(40_000)])
      expect(
        (await session.failure('session.workspaces.writeAutopilotObjective', { content })).message,
      ).toContain('content: an objective has');
    await session.call('session.mode.set', { mode: 'autopilot' });
    const events = await session.turn('Plant');
    expect(String(model.requests[1]?.body.messages.at(-1)?.content)).toContain(
      '<objective>\nAn oak\n</objective>',
    );
    expect(events.find(({ type }) => type === 'session.task_complete')?.data).toEqual({
      summary: 'Planted',
      success: true,
      objectiveId: 1,
      outcome: 'completed',
    });
    expect(await objective('deleteAutopilotObjective')).toEqual({ deleted: true });
    await objective('writeAutopilotObjective', { content: 'A pond' });
    const changes = (await session.stored()).filter(
      ({ type }) => type === 'session.autopilot_objective_changed',
    );
    expect(changes.map(({ data }) => data)).toEqual([
      { operation: 'create', id: 1, status: 'active' },
      { operation: 'update', id: 1, status: 'active' },
      { operation: 'update', id: 1, status: 'completed' },
      { operation: 'delete', id: 1 },
      { operation: 'create', id: 2, status: 'active' },
    ]);
  });

  test('an objective outlives kill -9, and says when autopilot has stopped short of it', async () => {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const before = await (await runtime.connect(process)).create({});
    await before.call('session.workspaces.writeAutopilotObjective', { content: 'An oak' });
    await process.signal('SIGKILL');
    const model = runtime.script(...['0', '1', '2', '3', '4', '5'].map(say));
    const after = await runtime.client.resume(before.sessionId, providerOf(model));
    expect(await after.call('session.workspaces.readAutopilotObjective')).toEqual({ content: 'An oak' });
    const events = await after.turn('Plant', { agentMode: 'autopilot' });
    expect(String(model.requests[5]?.body.messages.at(-1)?.content)).toContain('An oak');
    const changes = events.filter(({ type }) => type === 'session.autopilot_objective_changed');
    expect(changes.map(({ data }) => data)).toEqual([{ operation: 'update', id: 1, status: 'cap_reached' }]);
  });

  test('does not go on with what a user has rejected', async () => {
    const model = runtime.script(call('create', { path: 'x', file_text: '' }));
    const session = await runtime.client.create({ ...providerOf(model), requestPermission: true });
    await session.call('session.mode.set', { mode: 'autopilot' });
    await session.send('Do it');
    const { requestId } = (await session.next('permission.requested')).data;
    await session.decide(requestId, { kind: 'reject' });
    await session.next('session.idle');
    expect(model.requests).toHaveLength(1);
  });

  test('counts on after kill -9', async () => {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const first = await runtime.connect(process);
    first.answer = () => new Promise(() => undefined);
    const ask = call('ask_user', { question: 'Sure?' });
    const model = runtime.script(say('0'), say('1'), say('2'), ask, say('3'), say('4'), say('5'));
    const settings = { ...providerOf(model), requestUserInput: true };
    const before = await first.create(settings);
    await before.call('session.mode.set', { mode: 'autopilot' });
    await before.send('Do it');
    await before.next('user_input.requested');
    await process.signal('SIGKILL');
    const client = await runtime.connect();
    client.answer = async () => ({ answer: 'yes', wasFreeform: true });
    const after = await client.resume(before.sessionId, { ...settings, continuePendingWork: true });
    await after.next('session.idle');
    expect(continued(await after.stored())).toHaveLength(5);
  });

  test('goes on after kill -9 between an answer and the continuation that follows it', async () => {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const first = await runtime.connect(process);
    const stopping = hookAsked(first, 'agentStop');
    const model = runtime.script(say('half'), call('task_complete', { summary: 'All of it' }), say('bye'));
    const before = await first.create({ ...providerOf(model), hooks: true });
    await before.call('session.mode.set', { mode: 'autopilot' });
    await before.send('Do it');
    await stopping;
    await process.signal('SIGKILL');
    const after = await runtime.client.resume(before.sessionId, {
      ...providerOf(model),
      waiveHooks: true,
      continuePendingWork: true,
    });
    await after.next('session.idle');
    const stored = await after.stored();
    expect(continued(stored)).toHaveLength(1);
    expect(stored.filter(({ type }) => type === 'session.task_complete')).toHaveLength(1);
  });

  test('resumed without continuePendingWork it has stopped', async () => {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const first = await runtime.connect(process);
    const stopping = hookAsked(first, 'agentStop');
    const model = runtime.script(
      say('half'),
      say('next'),
      call('task_complete', { summary: 'x' }),
      say('bye'),
    );
    const before = await first.create({ ...providerOf(model), hooks: true });
    await before.call('session.mode.set', { mode: 'autopilot' });
    await before.send('Do it');
    await stopping;
    await process.signal('SIGKILL');
    const settings = { ...providerOf(model), waiveHooks: true };
    const after = await runtime.client.resume(before.sessionId, settings);
    expect(await after.call('session.metadata.activity')).toMatchObject({ hasActiveWork: false });
    expect(model.requests).toHaveLength(1);
    const events = await after.turn('Go on');
    expect(continued(events)).toHaveLength(1);
  });
});

test('hooks that keep the agent from stopping are counted on after kill -9', async () => {
  const process = runtime.spawn({ flags: ['--stdio'] });
  const first = await runtime.connect(process);
  const active: unknown[] = [];
  const third = new Promise<void>((resolve) => {
    first.answer = async (_method, params) => {
      const { hookType, input } = params as { hookType: string; input: { stop_hook_active: boolean } };
      if (hookType !== 'agentStop') return {};
      active.push(input.stop_hook_active);
      if (active.length < 3) return { output: { decision: 'block', reason: 'Go on' } };
      resolve();
      return new Promise(() => undefined);
    };
  });
  const model = runtime.script(say('0'), say('1'), say('2'), say('3'), say('4'));
  const before = await first.create({ ...providerOf(model), hooks: true });
  await before.send('Do it');
  await third;
  await process.signal('SIGKILL');
  const client = await runtime.connect();
  client.answer = async (_method, params) => {
    const { hookType, input } = params as { hookType: string; input: { stop_hook_active: boolean } };
    if (hookType !== 'agentStop') return {};
    active.push(input.stop_hook_active);
    return { output: { decision: 'block', reason: 'Go on' } };
  };
  const after = await client.resume(before.sessionId, {
    ...providerOf(model),
    hooks: true,
    continuePendingWork: true,
  });
  await after.next('session.idle');
  expect(active).toEqual([false, true, true, true]);
  expect(model.requests).toHaveLength(4);
});

/** Resolves when this client is asked at a point; what it is asked there is never answered. */
function hookAsked(client: WireClient, point: string): Promise<void> {
  return new Promise((resolve) => {
    client.answer = async (_method, params) => {
      if ((params as { hookType: string }).hookType !== point) return {};
      resolve();
      return new Promise(() => undefined);
    };
  });
}
