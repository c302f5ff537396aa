import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { beforeAll, describe, expect, test } from 'vitest';

const stores = join(import.meta.dirname, 'fixtures/stores');
const tools = [{ name: 'look', skipPermission: true }];

/** Each was written by an earlier version, which was killed while two of its sessions waited for answers. */
describe.each(readdirSync(stores))('a store of an earlier version: %s', (file) => {
  const runtime = liveRuntime();

  beforeAll(async () => {
    await runtime.process.stop();
    writeFileSync(join(runtime.home.path, 'groundcrew.db'), gunzipSync(readFileSync(join(stores, file))));
    await runtime.start();
  });

  test('lists its sessions', async () => {
    const { sessions } = await runtime.client.call<{ sessions: { sessionId: string }[] }>('session.list');
    expect(sessions.map(({ sessionId }) => sessionId).sort()).toEqual(['asking', 'calling', 'finished']);
  });

  test('a finished session goes on, and its model reads all that was said', async () => {
    const model = runtime.script(say('third answer'));
    const session = await runtime.client.resume('finished', { ...providerOf(model), tools });
    await session.turn('Third prompt');
    const said = JSON.stringify(model.requests);
    for (const text of [
      'First prompt',
      'a tree',
      'x'.repeat(20_000),
      'Second prompt',
      'a bush',
      'second answer',
    ])
      expect(said).toContain(text);
    expect(story(await session.stored()).at(-2)).toBe('assistant.message "third answer"');
  });

  test('a question asked before is answered under its old id, and the prompt behind it gets its turn', async () => {
    const model = runtime.script(say('looked'), say('and more'));
    const session = await runtime.client.resume('asking', {
      ...providerOf(model),
      tools: [{ name: 'look' }],
      continuePendingWork: true,
    });
    const { items } = await session.call<{ items: { requestId: string }[] }>('session.questions.pending');
    await session.decide(items[0]?.requestId ?? '', { kind: 'approve-once' });
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'a hedge' });
    await session.next('session.idle');
    const stored = story(await session.stored());
    expect(stored).toContain('assistant.message "looked"');
    expect(stored).toContain('assistant.message "and more"');
  });

  test('a call handed to a client before is answered after it', async () => {
    const model = runtime.script(say('seen'));
    const session = await runtime.client.resume('calling', {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    const { items } = await session.call<{ items: { requestId: string }[] }>('session.questions.pending');
    await session.answerTool(items[0]?.requestId ?? '', { result: 'a wood' });
    await session.next('session.idle');
    expect(story(await session.stored()).at(-2)).toBe('assistant.message "seen"');
  });
});
