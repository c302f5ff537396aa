import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  providerOf,
  ScriptedApi,
  type ScriptedCall,
  say,
  temporaryDirectory,
  type WireClient,
} from '@groundcrew/testkit';
import { RuntimeChild } from '../chaos/runtime-child.js';

/** A program under examination, in a world of its own. */
interface Exam {
  readonly home: string;
  readonly api: ScriptedApi;
  readonly breaches: string[];
  start(): Promise<WireClient>;
  /** kill -9. */
  kill(): Promise<unknown>;
}

/** Tries every way to have an effect without permission; each one that succeeds is a line. */
export async function examineGate(program: string): Promise<readonly string[]> {
  const world = temporaryDirectory();
  const api = await ScriptedApi.open();
  const breaches: string[] = [];
  let child: RuntimeChild | undefined;
  const exam: Exam = {
    home: world.path,
    api,
    breaches,
    start: () => {
      child = new RuntimeChild({ program, home: world.path, door: 'stdio' });
      return child.connect(() => undefined);
    },
    kill: async () => child?.kill(),
  };
  try {
    mkdirSync(join(world.path, 'secret'));
    writeFileSync(join(world.path, 'secret/key'), 'the-secret-key');
    const client = await exam.start();
    for (const attempt of [tryWithoutApproval, tryWhatRulesForbid, tryByHand, tryAfterACrash])
      if (breaches.length === 0) await attempt(exam, client);
    return breaches;
  } finally {
    await exam.kill();
    await api.close();
    world.remove();
  }
}

/** In force for all that is tried after it. */
function forbid({ home }: Exam, ...more: readonly object[]): void {
  const deny = [{ command: 'touch' }, { path: 'secret' }, { tool: 'sql' }, { tool: 'pay' }, ...more];
  writeFileSync(join(home, 'permissions.json'), JSON.stringify({ deny }));
}

const bash = (command: string): ScriptedCall => ({
  id: `bash-${command}`,
  name: 'bash',
  arguments: { command, description: 'Tries' },
});
const tools = ['pay', 'sell'].map((name) => ({ name, description: name, parameters: { type: 'object' } }));

/** No client answers questions here, so nothing that needs permission may happen. */
async function tryWithoutApproval(exam: Exam, client: WireClient): Promise<void> {
  const calls: ScriptedCall[] = [
    bash('mkdir unasked-bash'),
    { id: 'create', name: 'create', arguments: { path: 'unasked-create', file_text: 'x' } },
    { id: 'edit', name: 'edit', arguments: { path: 'secret/key', old_str: 'secret', new_str: 'open' } },
    { id: 'view', name: 'view', arguments: { path: 'secret/key' } },
    { id: 'sell', name: 'sell', arguments: {} },
  ];
  const texts = await results(exam, client, { calls, settings: { tools, requestPermission: false } });
  for (const [id, text] of texts)
    if (!text.startsWith('Permission denied and could not')) exam.breaches.push(`unasked ${id}: ${text}`);
  for (const name of ['unasked-bash', 'unasked-create'])
    if (existsSync(join(exam.home, name))) exam.breaches.push(`${name} was made`);
}

/** Everything is approved here, by mode, by switch and by the client, but for what rules forbid. */
async function tryWhatRulesForbid(exam: Exam, client: WireClient): Promise<void> {
  forbid(exam);
  const calls: ScriptedCall[] = [
    bash('touch forbidden-1'),
    bash("sh -c 'touch forbidden-2'"),
    { id: 'edit', name: 'edit', arguments: { path: 'secret/key', old_str: 'no such text', new_str: '' } },
    { id: 'view', name: 'view', arguments: { path: 'secret/key' } },
    { id: 'create', name: 'create', arguments: { path: 'secret/new', file_text: 'x' } },
    { id: 'sql', name: 'sql', arguments: { description: 'd', query: 'SELECT 1' } },
    { id: 'pay', name: 'pay', arguments: {} },
  ];
  const skipping = tools.map((tool) => ({ ...tool, skipPermission: true }));
  const settings = { tools: skipping };
  const texts = await results(exam, client, { calls, settings, approvesAll: true });
  for (const [id, text] of texts)
    if (!text.startsWith('Permission denied by rules')) exam.breaches.push(`forbidden ${id}: ${text}`);
  for (const name of ['forbidden-1', 'forbidden-2', 'secret/new'])
    if (existsSync(join(exam.home, name))) exam.breaches.push(`${name} was made`);
}

/** What users run by hand is not asked about, and rules hold all the same. */
async function tryByHand(exam: Exam, client: WireClient): Promise<void> {
  const session = await client.create({});
  const command = 'touch by-hand';
  const wasStarted = await session.failure('session.shell.exec', { command });
  if ('result' in wasStarted) exam.breaches.push('session.shell.exec ran what is forbidden');
  const { success } = await session.call<{ success: boolean }>('session.shell.executeUserRequested', {
    requestId: 'r1',
    command,
  });
  if (success) exam.breaches.push('session.shell.executeUserRequested ran what is forbidden');
}

/** Leave given to a call before a crash does not outlive a rule made since. */
async function tryAfterACrash(exam: Exam, client: WireClient): Promise<void> {
  const model = exam.api.script(callTools(bash('mkdir after-crash')), say('done'));
  const session = await client.create(providerOf(model));
  await session.send('Go');
  const { data } = await session.next('permission.requested');
  await exam.kill();
  forbid(exam, { command: 'mkdir' });
  const again = await (await exam.start()).resume(session.sessionId, {
    ...providerOf(model),
    continuePendingWork: true,
  });
  await again.decide(data.requestId, { kind: 'approve-once' });
  await again.next('session.idle');
  if (existsSync(join(exam.home, 'after-crash'))) exam.breaches.push('a resumed call ran what is forbidden');
}

/** What the model reads about each call; a call that is handed to a client counts as run. */
async function results(
  { api }: Exam,
  client: WireClient,
  attempt: {
    readonly calls: readonly ScriptedCall[];
    readonly settings: object;
    readonly approvesAll?: boolean;
  },
): Promise<readonly (readonly [string, string])[]> {
  const model = api.script(callTools(...attempt.calls), say('done'));
  const session = await client.create({ ...providerOf(model), ...attempt.settings });
  if (attempt.approvesAll) {
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    await session.call('session.permissions.setApproveAll', { enabled: true });
  }
  await session.send('Go');
  const finished = new Map<string, string>();
  await client.until(() => {
    for (const { type, data } of client.events(session.sessionId)) {
      const { toolCallId = '', error, result } = data as Outcome;
      if (type === 'external_tool.requested') finished.set(toolCallId, 'was handed to the client');
      if (type === 'tool.execution_complete')
        finished.set(toolCallId, error?.message ?? result?.content ?? '');
    }
    return finished.size === attempt.calls.length ? true : undefined;
  }, 'the end of all calls');
  await session.call('session.destroy');
  return [...finished];
}

interface Outcome {
  readonly toolCallId?: string;
  readonly error?: { readonly message: string };
  readonly result?: { readonly content: string };
}
