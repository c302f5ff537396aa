import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, hold, liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { describe, expect, test, vi } from 'vitest';

const runtime = liveRuntime();
const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', skipPermission: true }];
const interrupted = 'The execution of this tool, or a previous tool was interrupted.';

/** A machine with much else to do takes its time to bury the dead. */
const patience = { timeout: 10_000 };

/** Another process on the same home, and a client of it. */
async function other() {
  const process = runtime.spawn({ flags: ['--stdio'] });
  return { process, client: await runtime.connect(process) };
}

describe('a process that was killed', () => {
  test('in a tool: the call is answered under its old id by the next process', async () => {
    const model = runtime.script(look, say('seen'));
    const { process, client } = await other();
    const before = await client.create({ ...providerOf(model), tools });
    await before.send('Look');
    const { data } = await before.next('external_tool.requested');
    await process.signal('SIGKILL');
    const received = before.events.filter((event) => !event.ephemeral);
    const after = await runtime.client.resume(before.sessionId, {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    expect(await after.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await after.next('session.idle');
    const stored = await after.stored();
    expect(stored.slice(0, received.length)).toEqual(received);
    expect(story(stored).at(-2)).toBe('assistant.message "seen"');
  });

  test('in two calls of one message: they are answered in the other order, each once, and one resume event is published', async () => {
    const both = callTools(
      { id: 'c1', name: 'look', arguments: { at: 'one' } },
      { id: 'c2', name: 'look', arguments: { at: 'two' } },
    );
    const model = runtime.script(both, say('seen'));
    const { process, client } = await other();
    const before = await client.create({ ...providerOf(model), tools });
    await before.send('Look twice');
    const asked = [
      await before.next('external_tool.requested'),
      await before.next('external_tool.requested'),
    ];
    await process.signal('SIGKILL');
    const after = await runtime.client.resume(before.sessionId, {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    for (const { data } of asked.toReversed()) {
      const answer = { result: `seen ${data.toolCallId}` };
      const twice = await Promise.all([1, 2].map(() => after.answerTool(data.requestId, answer)));
      expect(twice.map(({ success }) => success).sort()).toEqual([false, true]);
    }
    await after.next('session.idle');
    expect(model.requests[1]?.body.messages.slice(-2)).toMatchObject([
      { role: 'tool', tool_call_id: 'c1', content: 'seen c1' },
      { role: 'tool', tool_call_id: 'c2', content: 'seen c2' },
    ]);
    const resumed = (await after.stored()).filter(({ type }) => type === 'session.resume');
    expect(resumed.map(({ data }) => data)).toEqual([
      expect.objectContaining({ sessionWasActive: false, continuePendingWork: true, alreadyInUse: false }),
    ]);
  });

  test('while a command ran: nothing of it lives on, it is not run again, and model and clients learn of it', async () => {
    const workingDirectory = join(runtime.home.path, 'counted');
    mkdirSync(workingDirectory);
    const command = 'echo $$ >> runs.txt; exec sleep 60';
    const count = callTools({ id: 'c1', name: 'bash', arguments: { command, description: 'Count' } });
    const model = runtime.script(count, say('who knows'));
    const { process: doomed, client } = await other();
    const before = await client.create({ ...providerOf(model), workingDirectory });
    await before.send('Count');
    const { data } = await before.next('permission.requested');
    await before.decide(data.requestId, { kind: 'approve-once' });
    const runs = join(workingDirectory, 'runs.txt');
    await vi.waitFor(() => expect(existsSync(runs) && readFileSync(runs, 'utf8')).toMatch(/^\d+\n$/));
    await doomed.signal('SIGKILL');
    const pid = Number(readFileSync(runs, 'utf8'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'), patience);
    const after = await runtime.client.resume(before.sessionId, {
      ...providerOf(model),
      workingDirectory,
      continuePendingWork: true,
    });
    await after.next('session.idle');
    expect((await after.stored()).find(({ type }) => type === 'tool.execution_complete')?.data).toMatchObject(
      {
        toolCallId: 'c1',
        success: false,
        error: { message: interrupted },
      },
    );
    expect(model.requests[1]?.body.messages.at(-1)).toMatchObject({ role: 'tool', content: interrupted });
    expect(readFileSync(runs, 'utf8')).toBe(`${pid}\n`);
  });

  test('in a permission question: the next process asks the client anew once it is approved', async () => {
    const model = runtime.script(look, say('seen'));
    const { process, client } = await other();
    const before = await client.create({ ...providerOf(model), tools: [{ name: 'look' }] });
    await before.send('Look');
    const { data } = await before.next('permission.requested');
    await process.signal('SIGKILL');
    const after = await runtime.client.resume(before.sessionId, {
      ...providerOf(model),
      tools: [{ name: 'look' }],
      continuePendingWork: true,
    });
    const { items } = await after.call<{ items: { requestId: string }[] }>(
      'session.permissions.pendingRequests',
    );
    expect(items.map(({ requestId }) => requestId)).toEqual([data.requestId]);
    expect(await after.decide(data.requestId, { kind: 'approve-once' })).toEqual({ success: true });
    const asked = await after.next('external_tool.requested');
    await after.answerTool(asked.data.requestId, { result: 'a tree' });
    await after.next('session.idle');
    expect(story(await after.stored()).slice(-9, -4)).toEqual([
      'permission.completed approved',
      'tool.execution_start look#c1',
      'external_tool.requested look#c1',
      'external_tool.completed',
      'tool.execution_complete c1 ok "a tree"',
    ]);
  });

  test('and a client that does not continue: calls are closed, prompts that waited stand in the history', async () => {
    const model = runtime.script(look, say('next'));
    const { process, client } = await other();
    const before = await client.create({ ...providerOf(model), tools });
    await before.send('Look');
    const { data } = await before.next('external_tool.requested');
    await before.send('Waiting');
    await process.signal('SIGKILL');
    const after = await runtime.client.resume(before.sessionId, { ...providerOf(model), tools });
    expect(await after.answerTool(data.requestId, { result: 'late' })).toEqual({ success: false });
    await after.turn('Next');
    expect(model.requests[1]?.body.messages.slice(1)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool', content: interrupted },
      { role: 'user', content: expect.stringContaining('Waiting') },
      { role: 'user', content: expect.stringContaining('Next') },
    ]);
  });

  test('and a client that continues: prompts that waited are run in order', async () => {
    const held = hold();
    const model = runtime.script(held.reply, say('first'), say('second'));
    const { process, client } = await other();
    const before = await client.create(providerOf(model));
    await before.send('First');
    await model.asked(1);
    await before.send('Second');
    await process.signal('SIGKILL');
    held.release();
    const after = await runtime.client.resume(before.sessionId, {
      ...providerOf(model),
      continuePendingWork: true,
    });
    await after.next('session.idle');
    const said = story(await after.stored()).filter((line) => /^(user|assistant\.message)/.test(line));
    expect(said).toEqual([
      'user.message "First" idle 0',
      'assistant.message "first"',
      'user.message "Second" queued 0',
      'assistant.message "second"',
    ]);
  });

  test('in a model call: it is made again, at once where the environment names the service', async () => {
    const held = hold();
    const model = runtime.script(held.reply, say('again'), say('and on'));
    const environment = { COPILOT_API_URL: model.baseUrl, MY_TOKEN: 'gho_1' };
    const start = () => runtime.spawn({ flags: ['--stdio', '--auth-token-env', 'MY_TOKEN'], environment });
    const doomed = start();
    const before = await (await runtime.connect(doomed)).create();
    await before.send('Hello');
    await model.asked(1);
    await doomed.signal('SIGKILL');
    held.release();
    const client = await runtime.connect(start());
    const after = await client.resume(before.sessionId, { continuePendingWork: true });
    await after.next('session.idle');
    expect(story(await after.stored()).slice(-2)).toEqual([
      'assistant.message "again"',
      'assistant.turn_end 0',
    ]);
    expect(model.requests[1]?.body.messages).toEqual(model.requests[0]?.body.messages);
    expect(model.requests[1]?.headers.authorization).toBe('Bearer gho_1');
  });

  test('in its first moments: what was acknowledged is there, each prompt once', async () => {
    const model = runtime.script(...Array(4).fill(say('ok')));
    const { process, client } = await other();
    const before = await client.create({ ...providerOf(model), sessionId: 'sudden' });
    const receipts = await Promise.all(['A', 'B', 'C'].map((prompt) => before.send(prompt)));
    await process.signal('SIGKILL');
    const after = await runtime.client.resume('sudden', { ...providerOf(model), continuePendingWork: true });
    await after.turn('D');
    const prompts = (await after.stored()).flatMap(({ type, data }) =>
      type === 'user.message' ? [(data as { messageId: string }).messageId] : [],
    );
    expect(prompts.slice(0, 3)).toEqual(receipts.map(({ messageId }) => messageId));
    expect(prompts).toHaveLength(4);
  });
});
