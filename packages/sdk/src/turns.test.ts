import { Connection, channelPair } from '@groundcrew/rpc';
import { expect, test } from 'vitest';
import { Client } from './client.js';
import { RuntimeConnection } from './connection-options.js';

type Replies = Readonly<Record<string, () => unknown>>;

/** A client whose connections, one after the other, are answered so: the first ends where it has no answer. */
function clientOf(...connections: readonly Replies[]): Client {
  let at = 0;
  const open = () => {
    const replies = connections[at++] ?? {};
    const [ours, theirs] = channelPair();
    const connection = new Connection(theirs, {
      onRequest: async (method) => {
        const reply = replies[method];
        if (reply) return reply();
        void connection.close();
        return {};
      },
    });
    return ours;
  };
  return new Client({ connection: RuntimeConnection.forChannel(open) });
}

function event(type: string, data: object) {
  return { id: `${type} 1`, timestamp: '2026-01-02T03:04:05.678Z', parentId: null, type, data };
}

test('a turn that was over before the connection was back has been heard whole when its wait resolves', async () => {
  const connect = () => ({ ok: true, protocolVersion: 3, version: '0' });
  const opened = () => ({ sessionId: 's', workspacePath: '' });
  const stored = [
    event('user.message', { content: 'Survive', messageId: 'm' }),
    event('assistant.message', { messageId: 'a', content: 'Survived.' }),
  ];
  const client = clientOf(
    { connect, 'session.create': opened, 'session.send': () => ({ messageId: 'm' }) },
    {
      connect,
      'session.resume': opened,
      'session.metadata.isProcessing': () => ({ processing: false }),
      'session.questions.pending': () => ({ items: [] }),
      'session.getMessages': () => ({ events: stored }),
      'session.destroy': () => ({ success: true }),
    },
  );
  const heard: string[] = [];
  const session = await client.createSession({ sessionId: 's', onEvent: ({ type }) => heard.push(type) });
  const last = await session.sendAndWait({ prompt: 'Survive', messageId: 'm' });
  expect(last?.data.content).toBe('Survived.');
  expect(heard).toEqual(['user.message', 'assistant.message', 'session.idle']);
  await client.stop();
});
