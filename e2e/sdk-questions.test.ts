import type { ElicitationRequest, SessionOptions } from '@groundcrew/sdk';
import { callTools, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { sdkWorld } from './sdk-world.js';

const world = sdkWorld();
const call = (name: string, args: object) => callTools({ id: 'c1', name, arguments: args });

test('every kind of question has its handler, with defaults where the runtime leaves something out', async () => {
  const asked: unknown[] = [];
  const model = world.script(
    call('ask_user', { question: 'Which?' }),
    call('exit_plan_mode', { summary: 'Two steps' }),
    say('done'),
  );
  const session = await world.newClient().createSession({
    ...providerOf(model),
    onUserInputRequest: (request) => {
      asked.push(request);
      return { answer: 'this one', wasFreeform: true };
    },
    onExitPlanModeRequest: ({ summary, actions }) => {
      asked.push({ summary, actions });
      return { approved: true, selectedAction: 'interactive' };
    },
  });
  await session.sendAndWait({ prompt: 'Plan', agentMode: 'plan' });
  expect(asked).toEqual([
    { question: 'Which?', choices: [], allowFreeform: true },
    { summary: 'Two steps', actions: ['autopilot', 'interactive', 'exit_only'] },
  ]);
});

test('a form goes to the handler, and what does not fit is reported and leaves it open', async () => {
  const failures: string[] = [];
  const asked: ElicitationRequest[] = [];
  const client = world.newClient({ onHandlerError: ({ error }) => failures.push(error.message) });
  const answers: NonNullable<SessionOptions['onElicitationRequest']> = (request) => {
    asked.push(request);
    return request.message === 'bad'
      ? { action: 'accept', content: { age: 'x' } }
      : { action: 'accept', content: { age: 3 } };
  };
  const session = await client.createSession({ onElicitationRequest: answers });
  const requestedSchema = {
    type: 'object' as const,
    properties: { age: { type: 'integer' } },
    required: ['age'],
  };
  const form = { message: 'How old?', requestedSchema };
  expect(await session.call('session.ui.elicitation', form)).toEqual({
    action: 'accept',
    content: { age: 3 },
  });
  expect(asked).toEqual([{ ...form, mode: 'form', sessionId: session.sessionId }]);
  const giveUp = new AbortController();
  const open = session
    .call('session.ui.elicitation', { ...form, message: 'bad' }, giveUp.signal)
    .catch(() => 'left');
  await expect.poll(() => failures).toEqual([expect.stringContaining('content.age: must be an integer')]);
  expect((await session.pending()).map(({ kind }) => kind)).toEqual(['elicitation']);
  giveUp.abort();
  expect(await open).toBe('left');
});

test('commands run in the app that declared them; what they throw is what the caller reads', async () => {
  const ran: unknown[] = [];
  const failures: string[] = [];
  const client = world.newClient({ onHandlerError: ({ name }) => failures.push(name) });
  const session = await client.createSession({
    commands: [
      { name: 'deploy', description: 'Deploys', handler: (context) => void ran.push(context) },
      {
        name: 'fail',
        handler: () => {
          throw new Error('not today');
        },
      },
    ],
  });
  const { sessionId } = session;
  expect(await session.call('session.commands.execute', { commandName: 'deploy', args: 'now' })).toEqual({});
  expect(ran).toEqual([{ sessionId, command: '/deploy now', commandName: 'deploy', args: 'now' }]);
  expect(await session.call('session.commands.execute', { commandName: 'fail', args: '' })).toEqual({
    error: 'not today',
  });
  expect(failures).toEqual(['fail']);
  expect(await session.call('session.commands.invoke', { name: 'deploy' })).toEqual({ kind: 'completed' });
  await expect(session.call('session.commands.invoke', { name: 'none' })).rejects.toThrow(
    'Unknown command: none',
  );
});

test('the runtime has commands of its own, which a client’s of the same name hide', async () => {
  const session = await world.newClient().createSession({
    commands: [{ name: 'help', description: 'Mine', handler: () => undefined }],
  });
  const { commands } = await session.call('session.commands.list', { includeSkills: false });
  expect(commands.map(({ name, kind }) => `${name} ${kind}`).sort()).toEqual([
    'autopilot builtin',
    'compact builtin',
    'context builtin',
    'help client',
    'mode builtin',
    'model builtin',
    'plan builtin',
  ]);
  const invoke = (name: string, input?: string) =>
    session.call('session.commands.invoke', { name, ...(input !== undefined && { input }) });
  expect(await invoke('mode')).toMatchObject({ kind: 'select-subcommand', title: 'The mode is interactive' });
  expect(await invoke('plan', 'the garden')).toEqual({
    kind: 'agent-prompt',
    prompt: 'the garden',
    displayPrompt: 'the garden',
    mode: 'plan',
  });
  expect(await session.call('session.mode.get')).toBe('plan');
  expect(await invoke('mode', 'interactive')).toEqual({
    kind: 'completed',
    message: 'The mode is interactive.',
  });
  await expect(invoke('mode', 'fast')).rejects.toThrow('The mode is one of');
});

test('a command without a handler gets a warning', async () => {
  const warnings: string[] = [];
  const client = world.newClient({ onWarning: (message) => void warnings.push(message) });
  // As plain JavaScript may write it.
  const commands = [{ name: 'idle' }] as unknown as NonNullable<SessionOptions['commands']>;
  await client.createSession({ commands });
  expect(warnings).toEqual([
    'The command idle is declared and has no handler: nothing happens when it is called.',
  ]);
});

test('what a handler may not return does not compile', () => {
  const wrong: SessionOptions = {
    // @ts-expect-error a form is accepted, declined or cancelled
    onElicitationRequest: () => ({ action: 'perhaps' }),
    // @ts-expect-error an answer is text
    onUserInputRequest: () => ({ answer: 1 }),
    // @ts-expect-error a plan is approved or not
    onExitPlanModeRequest: () => ({ selectedAction: 'interactive' }),
    // @ts-expect-error yes, yes_always or no
    onAutoModeSwitchRequest: () => 'maybe',
  };
  expect(Object.keys(wrong)).toHaveLength(4);
});
