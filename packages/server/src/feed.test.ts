import { Connection, channelPair } from '@groundcrew/rpc';
import { PublishedEvent } from '@groundcrew/runtime';
import { expect, test } from 'vitest';
import { ClientDialect } from './dialect/client-dialect.js';
import { Feed } from './feed.js';

test('of what a command has printed so far, a client that is behind hears the last word of each call', async () => {
  const [ours, theirs] = channelPair();
  const feed = new Feed({
    sessionId: 's',
    dialect: new ClientDialect({}),
    connection: new Connection(ours, { onRequest: async () => null }),
    read: async function* () {
      yield [];
    },
  });
  const filler = 'x'.repeat(2 * 1024 * 1024);
  feed.receive(printed('c0', filler));
  for (let line = 1; line <= 100; line++)
    for (const call of ['c1', 'c2']) feed.receive(printed(call, 'y'.repeat(100_000) + line));
  feed.receive(new PublishedEvent('s', 'session.idle', JSON.stringify({ type: 'session.idle', data: {} })));

  const received: string[] = [];
  for await (const message of theirs.messages) {
    const { type, data } = (message as { params: { event: { type: string; data: Printed } } }).params.event;
    if (type === 'session.idle') break;
    received.push(`${data.toolCallId} ${data.partialOutput.replace(/[xy]+/, '')}`);
  }
  expect(received).toEqual(['c0 ', 'c1 100', 'c2 100']);
});

interface Printed {
  readonly toolCallId: string;
  readonly partialOutput: string;
}

function printed(toolCallId: string, partialOutput: string): PublishedEvent {
  const type = 'tool.execution_partial_result';
  return new PublishedEvent('s', type, JSON.stringify({ type, data: { toolCallId, partialOutput } }));
}
