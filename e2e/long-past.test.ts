import { join } from 'node:path';
import { openSqliteStore } from '@groundcrew/store-sqlite';
import { liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

/** One event with this much text, as often as it takes; the store keeps the text once. */
const megabytes = 9;
const times = 30;

test('events that no answer has room for are refused, with the method that reads them in pages', async () => {
  const model = runtime.script(say('hi'), say('still here'));
  const session = await runtime.client.create(providerOf(model));
  await session.turn('Hello');
  await session.call('session.destroy');
  const { sessionId } = session;
  await append(sessionId);

  // Its client has not received what was written behind the back of the runtime.
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }), { hasGaps: true });
  const again = await client.resume(sessionId, providerOf(model));
  expect(await again.failure('session.getMessages')).toMatchObject({
    message: expect.stringContaining(
      'The events of this session take more than 255 MB, more than an answer may have; read them in pages with session.eventLog.read',
    ) as string,
  });
  const page = await again.call<{ events: readonly unknown[]; hasMore: boolean }>('session.eventLog.read', {
    max: 5,
  });
  expect([page.events.length, page.hasMore]).toEqual([5, true]);
  expect((await again.turn('Are you there?')).at(-1)?.type).toBe('session.idle');
});

async function append(sessionId: string): Promise<void> {
  const directory = runtime.home.path;
  const store = openSqliteStore({
    file: join(directory, 'groundcrew.db'),
    runDirectory: join(directory, 'run'),
  });
  const owner = { runtimeId: 'a-test', pid: process.pid, host: 'here' };
  const { epoch, seq, head } = await store.claim({ sessionId, owner });
  const event = {
    type: 'session.info',
    data: { infoType: 'notice', message: 'x'.repeat(megabytes * 1024 * 1024) },
    id: crypto.randomUUID(),
    timestamp: new Date().toISOString(),
    parentId: null,
  };
  const json = JSON.stringify(event);
  for (let index = 0; index < times; index += 1) {
    const records = [{ seq: seq + index + 1, isPublic: true, type: event.type, json }];
    const after = { ...head, eventCount: head.eventCount + index + 1 };
    await store.append({ sessionId, epoch, expectedSeq: seq + index, records, head: after });
  }
  await store.release({ sessionId, epoch });
  await store.close();
}
