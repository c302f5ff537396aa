import { Connection, channelPair } from '@groundcrew/rpc';
import { expect, test } from 'vitest';
import { LifecycleFeed, noticeOf } from './lifecycle-feed.js';

const handlers = { onRequest: async () => null };
const summary = 'x'.repeat(100_000);

function updated(sessionId: string, startTime: string) {
  return noticeOf({
    type: 'session.updated',
    sessionId,
    metadata: { startTime, modifiedTime: startTime, summary },
  });
}

test('of a session that changes while a client does not read, the client hears the last word, after what was on its way', async () => {
  const [ours, theirs] = channelPair();
  const lifecycles = new LifecycleFeed(new Connection(ours, handlers));
  for (let change = 0; change < 1000; change++)
    for (const session of ['a', 'b']) lifecycles.send(updated(session, String(change)));
  lifecycles.send(noticeOf({ type: 'session.deleted', sessionId: 'a' }));
  expect(ours.queuedBytes).toBeLessThan(2 * 1024 * 1024);

  const received: string[] = [];
  for await (const message of theirs.messages) {
    if (!('method' in message)) continue;
    const { type, sessionId, metadata } = message.params as Parameters<typeof noticeOf>[0];
    received.push(`${type} ${sessionId} ${metadata?.startTime ?? ''}`.trim());
    if (type === 'session.deleted') break;
  }
  expect(received.length).toBeLessThan(20);
  expect(received.slice(-3)).toEqual(['session.updated a 999', 'session.updated b 999', 'session.deleted a']);
});
