import { channelPair } from '@groundcrew/rpc';
import { expect, test } from 'vitest';
import { StandIn } from '../test/stand-in.js';
import { Client } from './client.js';
import { RuntimeConnection } from './connection-options.js';

test('a runtime of another version is refused', async () => {
  const runtime = new StandIn({ connect: () => ({ ok: true, protocolVersion: 2, version: '0' }) });
  await expect(runtime.client.start()).rejects.toMatchObject({
    kind: 'protocol_mismatch',
    message: 'The runtime speaks version 2 of the protocol, this SDK version 3',
  });
});

test.each([
  [{ connectionToken: 'secret' }, { clientInfo: { name: 'groundcrew-sdk' }, token: 'secret' }],
  [{}, { clientInfo: { name: 'groundcrew-sdk' } }],
])('with %j the handshake shows %j', async (options, shown) => {
  const seen: unknown[] = [];
  const connect = (params: unknown) => {
    seen.push(params);
    return { ok: true, protocolVersion: 3, version: '0' };
  };
  await new StandIn({ connect }, options).client.start();
  expect(seen).toEqual([shown]);
});

test('a runtime that knows no handshake is asked by ping', async () => {
  const ping = () => ({ message: 'pong', timestamp: 'now', protocolVersion: 3 });
  const runtime = new StandIn({ connect: undefined as never, ping });
  await runtime.client.start();
  expect(runtime.requests).toEqual([{ method: 'ping', params: {} }]);
});

test('a failed start is tried again by the next call', async () => {
  let attempts = 0;
  const client = new Client({
    connection: RuntimeConnection.forChannel(() => {
      attempts += 1;
      throw new Error(`attempt ${attempts}`);
    }),
  });
  await expect(client.start()).rejects.toThrow('attempt 1');
  await expect(client.start()).rejects.toThrow('attempt 2');
});

test('a channel that does not open is not waited for once the client is stopped, and closed if it opens later', async () => {
  const [ours, theirs] = channelPair();
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const connection = RuntimeConnection.forChannel(() => opened.then(() => ours));
  const client = new Client({ connection });
  const starting = expect(client.start()).rejects.toThrow('The client was stopped');
  await client.forceStop();
  await starting;
  open();
  // The other end has heard of nothing but the end.
  for await (const message of theirs.messages) expect(message).toBeUndefined();
});

test('a session that could not be opened is not listened to', async () => {
  const received: string[] = [];
  const runtime = new StandIn({
    'session.create': () => {
      throw new Error('refused');
    },
  });
  const options = { sessionId: 's', onEvent: ({ type }: { type: string }) => received.push(type) };
  await expect(runtime.client.createSession(options)).rejects.toThrow('refused');
  await runtime.send('s', 'session.idle', {});
  expect(received).toEqual([]);
});

test('only the first disconnect says goodbye, and handlers are dropped even if it fails', async () => {
  const received: string[] = [];
  const runtime = new StandIn({
    'session.destroy': () => {
      throw new Error('cannot leave');
    },
  });
  const session = await runtime.client.createSession({
    sessionId: 's',
    onEvent: ({ type }) => received.push(type),
  });
  const left = await Promise.allSettled([session.disconnect(), session.destroy(), session.disconnect()]);
  expect(left.map((each) => each.status === 'rejected' && each.reason.message)).toEqual(
    Array(3).fill('cannot leave'),
  );
  await runtime.send('s', 'session.idle', {});
  expect(received).toEqual([]);
  expect(runtime.requests.filter(({ method }) => method === 'session.destroy')).toHaveLength(1);
  await expect(session.send('hi')).rejects.toThrow('Session not found: s');
});

test('stop says what went wrong', async () => {
  const runtime = new StandIn({
    'session.destroy': () => {
      throw new Error('cannot leave');
    },
  });
  await runtime.client.createSession();
  expect((await runtime.client.stop()).map((error) => error.message)).toEqual(['cannot leave']);
});

test('a peer that hangs up is reported as such', async () => {
  const runtime = new StandIn();
  const session = await runtime.client.createSession();
  const reading = session.events().next();
  await runtime.hangUp();
  await expect(reading).rejects.toMatchObject({
    kind: 'connection_lost',
    message: 'The runtime at the other end of the channel closed the connection',
  });
});

test('a permission question that another client answers is taken back from the handler', async () => {
  const runtime = new StandIn();
  const signals: AbortSignal[] = [];
  const session = await runtime.client.createSession({
    onPermissionRequest: (_request, _invocation, signal) => {
      signals.push(signal);
      return new Promise((resolve) =>
        signal.addEventListener('abort', () => resolve({ kind: 'approve-once' })),
      );
    },
  });
  const permissionRequest = { kind: 'read', intention: 'Read', path: '/a' };
  await runtime.send(session.sessionId, 'permission.requested', { requestId: 'r', permissionRequest });
  await runtime.send(session.sessionId, 'permission.completed', {
    requestId: 'r',
    result: { kind: 'approved' },
  });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  expect(runtime.requests.map(({ method }) => method)).toEqual(['session.create']);
});

test('a question that a hook has answered, and one left to others, is not answered here', async () => {
  const runtime = new StandIn();
  const session = await runtime.client.createSession({ onPermissionRequest: () => ({ kind: 'no-result' }) });
  const permissionRequest = { kind: 'read', intention: 'Read', path: '/a' };
  await runtime.send(session.sessionId, 'permission.requested', { requestId: '1', permissionRequest });
  await runtime.send(session.sessionId, 'permission.requested', {
    requestId: '2',
    permissionRequest,
    resolvedByHook: true,
  });
  expect(runtime.requests.map(({ method }) => method)).toEqual(['session.create']);
});

test('waits of one session distinguish the turns of different prompts', async () => {
  const runtime = new StandIn({
    'session.send': ({ messageId }) => ({ messageId }),
    'session.metadata.isProcessing': () => ({ processing: true }),
  });
  const session = await runtime.client.createSession({ sessionId: 's' });
  const wait = session.sendAndWait({ prompt: 'b', messageId: 'b' }, Number.POSITIVE_INFINITY);
  await runtime.send('s', 'user.message', { content: 'a', messageId: 'a' });
  await runtime.send('s', 'assistant.message', { content: 'to a', messageId: 'x' });
  await runtime.send('s', 'session.idle', { aborted: true });
  await runtime.send('s', 'user.message', { content: 'b', messageId: 'b' });
  await runtime.send('s', 'assistant.message', { content: 'to b', messageId: 'y' });
  await runtime.send('s', 'session.idle', {});
  expect((await wait)?.data.content).toBe('to b');
});
