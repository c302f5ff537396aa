import {
  callTools,
  hold,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  say,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--no-auto-update', '--port', '0'] });
const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object' } }];

/** How the client that guards the session answers before a call. */
interface Outcome {
  readonly name: string;
  answer(guard: WireClient): Promise<unknown>;
  /** The arguments that the call may run with; none when it must not run. */
  readonly runsWith?: string;
  /** What the model reads of a call that must not run. */
  readonly denial?: RegExp;
}

const never = new Promise<never>(() => undefined);
const output = (said: unknown) => async () => ({ output: said });

const outcomes: readonly Outcome[] = [
  { name: 'allow', answer: output({ permissionDecision: 'allow' }), runsWith: 'here' },
  {
    name: 'deny',
    answer: output({ permissionDecision: 'deny', permissionDecisionReason: 'not now' }),
    denial: /^Denied by preToolUse hook: not now$/,
  },
  { name: 'ask', answer: output({ permissionDecision: 'ask' }), runsWith: 'here' },
  {
    name: 'modifiedArgs',
    answer: output({ permissionDecision: 'allow', modifiedArgs: { at: 'there' } }),
    runsWith: 'there',
  },
  { name: 'timeout', answer: () => never, denial: /did not answer within 0\.3 s/ },
  { name: 'throw', answer: () => Promise.reject(new Error('broken')), denial: /broken/ },
  { name: 'garbage', answer: async () => 'yes', denial: /otherwise than the protocol says/ },
  { name: 'a garbled output', answer: output(['allow']), denial: /otherwise than the protocol says/ },
  {
    name: 'an unknown decision',
    answer: output({ permissionDecision: 'perhaps' }),
    denial: /otherwise than the protocol says/,
  },
  {
    name: 'disconnect',
    answer: async (guard) => {
      await guard.close();
      return never;
    },
    denial: /The client has left|The user rejected/,
  },
  { name: 'no opinion', answer: output(null), runsWith: 'here' },
  { name: 'null', answer: async () => null, runsWith: 'here' },
];

/** A session of one client, guarded by the hooks of another. */
interface Guarded {
  readonly session: WireSession;
  readonly model: ScriptedModel;
  readonly ids: readonly string[];
}

/** Opens the session, brings it to where the call is made, and leaves it there. */
type Origin = (outcome: Outcome) => Promise<Guarded>;

const call = (id: string) => ({ id, name: 'look', arguments: { at: 'here' } });

async function guardedBy(outcome: Outcome, sessionId: string, process = runtime.process): Promise<void> {
  const guard = await runtime.connect(process, { hasGaps: true });
  guard.answer = async (_method, params) =>
    (params as { hookType: string }).hookType === 'preToolUse' ? outcome.answer(guard) : {};
  await guard.resume(sessionId, { hooks: true, hookOptions: { timeoutMs: 300 } });
}

async function opened(outcome: Outcome, model: ScriptedModel): Promise<WireSession> {
  const session = await runtime.client.create({ ...providerOf(model), tools });
  await guardedBy(outcome, session.sessionId);
  return session;
}

const origins: Readonly<Record<string, Origin>> = {
  'a call of the first prompt': async (outcome) => {
    const model = runtime.script(callTools(call('c1')), say('done'));
    const session = await opened(outcome, model);
    await session.send('Look');
    return { session, model, ids: ['c1'] };
  },
  'eight calls side by side': async (outcome) => {
    const ids = Array.from({ length: 8 }, (_, index) => `c${index}`);
    const model = runtime.script(callTools(...ids.map(call)), say('done'));
    const session = await opened(outcome, model);
    await session.send('Look everywhere');
    return { session, model, ids };
  },
  'a call of a queued prompt': async (outcome) => {
    const held = hold(say('first'));
    const model = runtime.script(held.reply, callTools(call('c1')), say('done'));
    const session = await opened(outcome, model);
    await session.send('Wait');
    await session.send('Look', { mode: 'enqueue' });
    held.release();
    return { session, model, ids: ['c1'] };
  },
  'a call after a steering prompt': async (outcome) => {
    const held = hold(callTools(call('c0')));
    const model = runtime.script(held.reply, callTools(call('c1')), say('done'));
    const session = await opened(outcome, model);
    await session.send('Look here');
    await session.send('And there', { mode: 'immediate' });
    held.release();
    return { session, model, ids: ['c0', 'c1'] };
  },
  'a call that was open when the runtime was killed': async (outcome) => {
    const process = runtime.spawn({ flags: ['--no-auto-update', '--port', '0'] });
    const model = runtime.script(callTools(call('c1')), say('done'));
    const client = await runtime.connect(process, { hasGaps: true });
    const before = await client.create({ ...providerOf(model), tools });
    await guardedBy({ name: 'stalls', answer: () => never }, before.sessionId, process);
    await before.send('Look');
    await before.next('hook.start', ({ data }) => data.hookType === 'preToolUse');
    await process.signal('SIGKILL');
    const again = { ...providerOf(model), tools, continuePendingWork: true, requestPermission: false };
    const session = await runtime.client.resume(before.sessionId, again);
    // Nobody can be asked, and the guard is away: the call waits for it.
    const { waitingOn } = await session.call<{ waitingOn: object[] }>('session.metadata.activity');
    expect(waitingOn).toMatchObject([{ kind: 'hooks', hookType: 'preToolUse' }]);
    // A guard that disconnects is asked, and leaves, before its own resume is answered.
    await guardedBy(outcome, before.sessionId).catch(() => expect(outcome.name).toBe('disconnect'));
    return { session, model, ids: ['c1'] };
  },
};

/** Answers what comes until the session is idle; returns what the calls were run with. */
async function seenThrough({ session }: Guarded, decision: object): Promise<readonly string[]> {
  const ran: string[] = [];
  const answered = new Set<string>();
  await runtime.client.until(() => {
    for (const { type, data } of session.events) {
      const { requestId } = data as { requestId?: string };
      if (requestId === undefined || answered.has(requestId)) continue;
      if (type === 'permission.requested') {
        answered.add(requestId);
        void session.decide(requestId, decision);
      }
      if (type === 'external_tool.requested') {
        answered.add(requestId);
        ran.push((data as { arguments: { at: string } }).arguments.at);
        void session.answerTool(requestId, { result: 'seen' });
      }
    }
    return session.events.some(({ type }) => type === 'session.idle') ? true : undefined;
  }, 'session.idle');
  return ran;
}

describe.each(Object.keys(origins))('%s', (origin) => {
  test.each(outcomes.map((outcome) => [outcome.name, outcome] as const))('%s', async (_, outcome) => {
    const guarded = await (origins[origin] as Origin)(outcome);
    // A guard that has left guards still: what comes after is asked about.
    const ran = await seenThrough(guarded, { kind: outcome.denial ? 'reject' : 'approve-once' });
    expect(ran).toEqual(outcome.runsWith === undefined ? [] : guarded.ids.map(() => outcome.runsWith));
    const results = guarded.session.events.filter(({ type }) => type === 'tool.execution_complete');
    for (const { data } of results) {
      const { success, error } = data as { success: boolean; error?: { message: string } };
      expect(success).toBe(outcome.denial === undefined);
      if (outcome.denial) expect(error?.message).toMatch(outcome.denial);
    }
    expect(results).toHaveLength(guarded.ids.length);
  });
});
