import { join } from 'node:path';
import { liveRuntime, providerOf, say, type WireClient, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const environment = { GROUNDCREW_EXTENSIONS: '1' };
const workflows = [
  {
    name: 'survey',
    description: 'Looks around',
    phases: [{ title: 'Plan', detail: 'thinks' }, { title: 'Work' }, { title: 'Never' }],
  },
  { name: 'waits', description: 'Waits' },
];

interface Body {
  readonly sessionId: string;
  readonly name: string;
  readonly runId: string;
  readonly executionToken: string;
  readonly args: unknown;
}

interface Run {
  readonly runId: string;
  readonly status: string;
}

/** Runs bodies as a client of workflows does; what is aborted ends. */
function serve(client: WireClient, asked: string[]): void {
  const aborts = new Map<string, () => void>();
  client.answer = async (method, params) => {
    const body = params as Body;
    asked.push(method);
    if (method === 'workflow.abort') {
      aborts.get(body.executionToken)?.();
      return {};
    }
    const aborted = new Promise<never>((_, reject) => {
      aborts.set(body.executionToken, () => reject(new Error('aborted')));
    });
    return body.name === 'waits' ? aborted : { result: await survey(client, body, aborted) };
  };
}

async function survey(client: WireClient, body: Body, aborted: Promise<never>): Promise<unknown> {
  const { sessionId, runId, executionToken } = body;
  const call = <T>(name: string, more: object) =>
    client.call<T>(`session.workflow.${name}`, { sessionId, runId, executionToken, ...more });
  await call('log', {
    lines: [
      { seq: 1, kind: 'phase', text: 'Plan' },
      { seq: 2, kind: 'log', text: 'so' },
    ],
  });
  const { hit } = await call<{ hit: boolean }>('journal.get', { key: 'step' });
  if (!hit) await call('journal.put', { key: 'step', resultJson: { n: 1 } });
  const { action } = await call<{ action: string }>('pauseAtCheckpoint', { key: 'gate' });
  if (action === 'pause') return aborted;
  await call('log', { lines: [{ seq: 3, kind: 'phase', text: 'Work' }] });
  const prompt = { workflowRunId: runId, prompt: 'Say it', opts: { label: 'speaker' } };
  const { result } = await call<{ result: unknown }>('agent', prompt);
  return { said: result, hit, args: body.args };
}

async function until(client: WireClient, session: WireSession, runId: string, status: string): Promise<Run> {
  for (;;) {
    const seen = session.events.length;
    const run = await session.call<Run>('session.workflow.getRun', { runId });
    if (run.status === status) return run;
    await client.until(
      () => session.events.slice(seen).find(({ type }) => type === 'workflow.run_updated'),
      `a run that is ${status}`,
    );
  }
}

test('a workflow pauses at a checkpoint, goes on in another process, and publishes its phases and agents', async () => {
  const home = join(runtime.home.path, 'workflows');
  const model = runtime.script(say('hello'), say('It is said.'));
  const first = runtime.spawn({ flags: ['--stdio'], home, environment });
  const client = await runtime.connect(first);
  const asked: string[] = [];
  serve(client, asked);
  const { sessionId } = await client.create(providerOf(model));
  const session = await client.resume(sessionId, { ...providerOf(model), workflows });
  await session.turn('Hello');
  const call = <T = unknown>(of: WireSession, name: string, more: object = {}) =>
    of.call<T>(`session.workflow.${name}`, more);
  await expect(call(session, 'run', { name: 'none' })).rejects.toThrow('No factory "none" is registered');
  const limited = { name: 'survey', options: { limits: { maxAiCredits: 1 } } };
  await expect(call(session, 'run', limited)).rejects.toThrow('not counted');
  for (const option of [{ resumeFromRunId: 'x' }, { notifyOnComplete: true }, { logPhaseNames: true }]) {
    const refused = `'${Object.keys(option)[0]}' has no effect`;
    await expect(call(session, 'run', { name: 'survey', options: option })).rejects.toThrow(refused);
  }
  const run = await call<Run>(session, 'run', { name: 'survey', args: { deep: true } });
  expect(run).toEqual({ runId: expect.any(String), attempt: 1, status: 'running' });
  const { runId } = run;
  expect(await until(client, session, runId, 'paused')).toMatchObject({
    pauseInfo: { type: 'checkpoint', key: 'gate' },
  });
  await client.until(() => asked.includes('workflow.abort') || undefined, 'the abort');
  expect(asked).toEqual(['workflow.execute', 'workflow.abort']);
  await first.signal('SIGKILL');

  const later = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home, environment }));
  serve(later, asked);
  const again = await later.resume(sessionId, { ...providerOf(model), workflows });
  expect(await call(again, 'listRuns')).toMatchObject({
    runs: [{ runId, workflowName: 'survey', status: 'paused', canResume: true, declaredPhaseCount: 3 }],
    oldestSeq: 1,
    newestSeq: 1,
    hasMoreNewer: false,
    omittedOlder: 0,
  });
  expect(await call(again, 'resume', { runId })).toMatchObject({
    workflowName: 'survey',
    run: { runId, attempt: 2, status: 'running' },
  });
  expect(await until(later, again, runId, 'completed')).toMatchObject({
    result: { said: 'It is said.', hit: true, args: { deep: true } },
  });
  expect(await call(again, 'getRunDetail', { runId })).toMatchObject({
    status: 'completed',
    canResume: false,
    totalSpawnedAgentCount: 1,
    terminal: { pauseInfo: null, resultPreview: expect.stringContaining('It is said.') },
    phases: [
      { title: 'Plan', detail: 'thinks', ordinal: 0, status: 'completed', entryCount: 2 },
      { title: 'Work', ordinal: 1, status: 'completed', totalAgentCount: 1, lastEnteredRunAttempt: 2 },
      { title: 'Never', ordinal: 2, status: 'skipped', entryCount: 0 },
    ],
    agents: [{ runId, label: 'speaker', phaseId: 'Work', agentType: 'general-purpose', status: 'completed' }],
  });
  const page = await call<{ records: object[] }>(again, 'getRunProgress', {
    runId,
    phaseId: 'Plan',
    limit: 1,
  });
  expect(page).toMatchObject({ records: [{ text: 'so', phaseId: 'Plan' }], hasMoreOlder: true });
  expect(await again.failure('session.workflow.resume', { runId })).toMatchObject({
    data: { code: 'non_resumable' },
  });

  const waiting = await call<Run>(again, 'run', { name: 'waits' });
  expect(await call(again, 'pause', { runId: waiting.runId })).toMatchObject({
    status: 'paused',
    pauseInfo: { type: 'user' },
  });
  await expect(call(again, 'pause', { runId: waiting.runId })).rejects.toThrow('only one that runs');
  await call(again, 'resume', { runId: waiting.runId });
  // Clients before the new name pause by the old one; what they read of a run they may know from before pauses.
  expect(await again.call('session.factory.pause', { runId: waiting.runId })).toEqual({
    runId: waiting.runId,
    attempt: 2,
    status: 'paused',
    pauseInfo: { type: 'user' },
  });
  expect(await again.call('session.factory.getRunDetail', { runId: waiting.runId })).toMatchObject({
    factoryName: 'waits',
    status: 'halted',
    canResume: true,
  });
  expect(await again.failure('session.factory.getRunDetail', { runId: 'none' })).toMatchObject({
    message: expect.stringContaining('Factory run none was not found'),
  });
  expect(await again.failure('session.factory.pause', { runId: 7 })).toMatchObject({ code: -32602 });
  await call(again, 'resume', { runId: waiting.runId });
  expect(await call(again, 'cancel', { runId: waiting.runId })).toMatchObject({ status: 'cancelled' });
  await later.close();
});

test('where extensions do not run, there are no workflows', async () => {
  const { session } = await runtime.session([]);
  expect(await session.failure('session.workflow.listRuns')).toEqual({
    code: -32601,
    message: 'Workflows are not available for this session',
    data: { code: 'workflows_unavailable' },
  });
});
