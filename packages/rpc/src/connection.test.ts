import { expect, test, vi } from 'vitest';
import { all, nextTurn, note, take } from '../test/channel-contract.js';
import type { Call } from './call.js';
import type { Channel } from './channel.js';
import { Connection, type ConnectionHandlers, type ConnectionOptions } from './connection.js';
import { RpcError } from './errors.js';
import { channelPair } from './memory.js';
import { encode, encodeRaw, type RequestId } from './message.js';

test('requests and notifications go both ways over one channel', async () => {
  const received: unknown[] = [];
  const handlers = (name: string): ConnectionHandlers => ({
    onRequest: async (method, params) => ({ name, method, params }),
    onNotification: (method, params) => received.push([name, method, params]),
  });
  const [left, right] = channelPair();
  const [a, b] = [new Connection(left, handlers('a')), new Connection(right, handlers('b'))];
  a.notify('hello', { to: 'b' });
  b.send(encode(note('encoded')));
  expect(await Promise.all([a.request('one', [1]), b.request('two'), a.request('three', null)])).toEqual([
    { name: 'b', method: 'one', params: [1] },
    { name: 'a', method: 'two' },
    { name: 'b', method: 'three', params: null },
  ]);
  expect(received).toEqual([
    ['b', 'hello', { to: 'b' }],
    ['a', 'note', 'encoded'],
  ]);
  await Promise.all([a.close(), b.close()]);
});

test('any id is echoed as it came, and our own count from 1', async () => {
  const { peer, connection } = serve({ onRequest: async () => undefined });
  const ids: RequestId[] = ['text', '', '7', 7, 0, -1.5, null];
  for (const id of ids) peer.send({ jsonrpc: '2.0', id, method: 'm' });
  const asked = [connection.request('a'), connection.request('b', {})].map((each) => each.catch(String));
  expect(await take(peer, ids.length + 2)).toEqual([
    { jsonrpc: '2.0', id: 1, method: 'a' },
    { jsonrpc: '2.0', id: 2, method: 'b', params: {} },
    ...ids.map((id) => ({ jsonrpc: '2.0', id, result: null })),
  ]);
  await connection.close();
  expect(await Promise.all(asked)).toEqual(['RpcError: Connection closed', 'RpcError: Connection closed']);
});

test('an id too large for a number is echoed with all its digits, whatever the outcome', async () => {
  const { peer } = serve({
    onRequest: async (method) => (method === 'fail' ? Promise.reject(new Error('no')) : undefined),
  });
  peer.send(encodeRaw('{"jsonrpc":"2.0","id":18446744073709551617,"method":"m"}'));
  peer.send(encodeRaw('{"jsonrpc":"2.0","id":18446744073709551619,"method":"fail"}'));
  expect(await take(peer, 2)).toEqual([
    { jsonrpc: '2.0', id: 18446744073709551617n, result: null },
    { jsonrpc: '2.0', id: 18446744073709551619n, error: { code: -32603, message: 'no' } },
  ]);
});

test('handlers start in the order of arrival and are answered in the order they settle', async () => {
  const story: string[] = [];
  const release = new Map<string, () => void>();
  const { peer, connection } = serve({
    onRequest: (method) => {
      story.push(`start ${method}`);
      return new Promise((resolve) => {
        release.set(method, () => resolve(method));
      });
    },
    onNotification: (method) => story.push(method),
  });
  peer.send({ jsonrpc: '2.0', id: 1, method: 'first' });
  peer.send(note(null));
  peer.send({ jsonrpc: '2.0', id: 2, method: 'second' });
  await nextTurn();
  expect(story).toEqual(['start first', 'note', 'start second']);
  release.get('second')?.();
  await nextTurn();
  release.get('first')?.();
  expect(await take(peer, 2)).toEqual([
    { jsonrpc: '2.0', id: 2, result: 'second' },
    { jsonrpc: '2.0', id: 1, result: 'first' },
  ]);
  await connection.close();
});

test('an RpcError crosses intact, any other error as internal with its message', async () => {
  const errors: Record<string, unknown> = {
    rpc: new RpcError(-32001, 'not allowed', { code: 'denied' }),
    plain: new TypeError('broken'),
    text: 'just text',
  };
  const { asker, close } = pair({
    onRequest: async (method) => {
      throw errors[method];
    },
  });
  const failures = Object.keys(errors).map((method) =>
    asker.request(method).catch((error: unknown) => error),
  );
  expect(await Promise.all(failures)).toEqual([
    new RpcError(-32001, 'not allowed', { code: 'denied' }),
    new RpcError(-32603, 'broken'),
    new RpcError(-32603, 'just text'),
  ]);
  await close();
});

test('describeError words what is no RpcError', async () => {
  const { asker, close } = pair({
    onRequest: (method) => {
      throw method === 'rpc' ? new RpcError(1, 'as it is') : new Error('no such file');
    },
    describeError: (method, error) => ({
      code: -32603,
      message: `Request ${method} failed with message: ${error instanceof Error ? error.message : ''}`,
      data: { method },
    }),
  });
  await expect(asker.request('rpc')).rejects.toEqual(new RpcError(1, 'as it is'));
  await expect(asker.request('read')).rejects.toEqual(
    new RpcError(-32603, 'Request read failed with message: no such file', { method: 'read' }),
  );
  await close();
});

test('a result, an error or a description that cannot be sent still gets one answer', async () => {
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const { asker, close } = pair({
    onRequest: async (method) => {
      if (method === 'result') return cycle;
      throw method === 'data' ? new RpcError(1, 'data', 1n) : new Error('plain');
    },
    describeError: (method) => {
      if (method === 'result') return { code: 2, message: 'described' };
      throw new Error('no words');
    },
  });
  await expect(asker.request('result')).rejects.toEqual(new RpcError(2, 'described'));
  await expect(asker.request('data')).rejects.toMatchObject({ code: -32603 });
  await expect(asker.request('words')).rejects.toEqual(new RpcError(-32603, 'no words'));
  await expect(asker.request('params', 1n)).rejects.toThrow(TypeError);
  await close();
});

test('abort rejects at once with its reason, notifies the peer, and a late answer is ignored', async () => {
  let call: Call | undefined;
  const { asker, close } = pair({
    onRequest: (method, _, given) => {
      if (method === 'next') return Promise.resolve('next');
      call = given;
      return new Promise((_resolve, reject) => {
        given.signal.addEventListener('abort', () => reject(given.signal.reason));
      });
    },
  });
  const controller = new AbortController();
  const slow = asker.request('slow', {}, controller.signal);
  await nextTurn();
  controller.abort(new Error('changed my mind'));
  await expect(slow).rejects.toThrow('changed my mind');
  expect(await asker.request('next')).toBe('next');
  expect(call?.signal.reason).toEqual(new RpcError(-32800, 'Request cancelled'));
  await expect(asker.request('late', {}, controller.signal)).rejects.toThrow('changed my mind');
  await close();
});

test('one signal may stand over many requests, and lets go of those that are answered', async () => {
  const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const cancelled: unknown[] = [];
  const onRequest = (method: string, params: unknown, call: Call) => {
    if (method === 'quick') return Promise.resolve();
    return new Promise((resolve) =>
      call.signal.addEventListener('abort', () => resolve(cancelled.push(params))),
    );
  };
  const { asker, connection, close } = pair({ onRequest });
  const controller = new AbortController();
  await Promise.all(Array.from({ length: 50 }, () => asker.request('quick', {}, controller.signal)));
  const slow = [1, 2].map((number) => asker.request('slow', number, controller.signal));
  await nextTurn();
  controller.abort();
  expect((await Promise.allSettled(slow)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await connection.request('sync');
  expect([cancelled, warning.mock.calls]).toEqual([[1, 2], []]);
  warning.mockRestore();
  await close();
});

test('a cancellation concerns only the request with that very id', async () => {
  const signals: boolean[] = [];
  const { peer, connection } = serve({
    onRequest: (_method, _params, call) =>
      new Promise((resolve) => {
        call.signal.addEventListener('abort', () => resolve('aborted'));
        signals.push(call.signal.aborted);
      }),
  });
  for (const id of [1, '1', 2]) peer.send({ jsonrpc: '2.0', id, method: 'm' });
  for (const params of [undefined, null, [], 'x', {}, { id: {} }, { id: 3 }, { id: '1' }]) {
    peer.send({ jsonrpc: '2.0', method: '$/cancelRequest', params });
  }
  expect(await take(peer, 1)).toEqual([{ jsonrpc: '2.0', id: '1', result: 'aborted' }]);
  expect(signals).toEqual([false, false, false]);
  await connection.close();
});

test('one request too many is refused at once as retryable, and there is room again after an answer', async () => {
  const release: (() => void)[] = [];
  const { asker, close } = pair(
    { onRequest: () => new Promise<void>((resolve) => release.push(resolve)) },
    { maxConcurrentRequests: 2 },
  );
  const running = [asker.request('a'), asker.request('b')];
  await expect(asker.request('c')).rejects.toEqual(
    new RpcError(-32000, 'Too many requests at once; try again', { code: 'overloaded', retryable: true }),
  );
  for (const resolve of release) resolve();
  expect(await Promise.all(running)).toEqual([null, null]);
  const again = asker.request('d');
  await nextTurn();
  release.at(-1)?.();
  expect(await again).toBe(null);
  await close();
});

test('ten thousand requests at once are all answered', async () => {
  const { asker, close } = pair({ onRequest: () => nextTurn() });
  const answers = await Promise.allSettled(Array.from({ length: 10_000 }, () => asker.request('m')));
  const refused = answers.filter(
    (answer) => answer.status === 'rejected' && answer.reason.data.retryable === true,
  );
  const served = answers.filter((answer) => answer.status === 'fulfilled');
  expect(served.length).toBeGreaterThanOrEqual(4096);
  expect(served.length + refused.length).toBe(10_000);
  await close();
});

test('an id still in progress is refused without touching the request that has it', async () => {
  const { peer, connection } = serve({ onRequest: () => nextTurn() });
  peer.send({ jsonrpc: '2.0', id: 5, method: 'a' });
  peer.send({ jsonrpc: '2.0', id: 5, method: 'b' });
  expect(await take(peer, 2)).toMatchObject([
    { id: 5, error: { code: -32600 } },
    { id: 5, result: null },
  ]);
  await connection.close();
});

test('a failing notification handler is warned of and changes nothing else', async () => {
  const warning = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  const { asker, close } = pair({
    onRequest: async () => 'fine',
    onNotification: () => {
      throw new Error('oops');
    },
  });
  asker.notify('event');
  expect(await asker.request('m')).toBe('fine');
  expect(warning.mock.calls).toEqual([['Notification event failed: oops']]);
  warning.mockRestore();
  await close();
});

test.each([
  ['{"id":9,"params":1}', 9, -32600],
  ['[]', null, -32600],
  ['{"method":', null, -32700],
])('%s is answered with what was wrong, then the connection ends', async (json, id, code) => {
  const { peer, connection } = serve({ onRequest: async () => null });
  peer.send(encodeRaw(json));
  const [answer, ...others] = await all(peer);
  expect(answer).toMatchObject({
    jsonrpc: '2.0',
    id,
    error: { code, message: expect.stringMatching(/^(Parse|Invalid)/) },
  });
  expect(others).toEqual([]);
  await connection.closed;
});

test('when the peer is gone, what it asked is aborted and what we asked is rejected', async () => {
  const reasons: unknown[] = [];
  const { peer, connection } = serve({
    onRequest: (_method, _params, call) =>
      new Promise((resolve) => {
        call.signal.addEventListener('abort', () => resolve(reasons.push(call.signal.reason)));
      }),
  });
  peer.send({ jsonrpc: '2.0', id: 1, method: 'm' });
  const asked = connection.request('m').catch((error: unknown) => error);
  await nextTurn();
  await peer.close();
  const gone = new RpcError(-32000, 'Connection closed', { code: 'connection_closed' });
  expect(await asked).toEqual(gone);
  await connection.closed;
  expect(reasons).toEqual([gone]);
  await expect(connection.request('more')).rejects.toEqual(gone);
  expect(connection.notify('more')).toBe(false);
  await connection.drained();
});

test('close hands over what was sent, ends both sides and may be called again', async () => {
  const received: unknown[] = [];
  const { asker, connection } = pair({
    onRequest: async () => null,
    onNotification: (_method, params) => received.push(params),
  });
  for (let index = 0; index < 100; index += 1) asker.notify('n', index);
  await asker.close();
  await asker.close();
  await connection.closed;
  expect(received).toEqual(Array.from({ length: 100 }, (_, index) => index));
});

test('a peer that never reads is not read from either, until it has caught up', async () => {
  const big = 'x'.repeat(100_000);
  let served = 0;
  const [peer, channel] = channelPair();
  const options = { maxQueuedBytes: 2_000_000 };
  const onRequest = async () => {
    served += 1;
    return big;
  };
  const connection = new Connection(channel, { onRequest }, options);
  for (let id = 0; id < 200; id += 1) peer.send({ jsonrpc: '2.0', id, method: 'm' });
  for (let turn = 0; turn < 100; turn += 1) await nextTurn();
  expect(served).toBeGreaterThan(19);
  expect(served).toBeLessThan(25);
  expect(channel.queuedBytes).toBeLessThan(2_500_000);
  expect((await take(peer, 200)).length).toBe(200);
  await connection.close();
});

test('requests that came together are handled for no longer than was said before others have their turn', async () => {
  const busy: ConnectionHandlers = {
    onRequest: async (method) => {
      const until = performance.now() + 2;
      while (performance.now() < until);
      return method;
    },
  };
  const turnsOf = async (options: ConnectionOptions) => {
    const { asker, close } = pair(busy, options);
    let turns = 0;
    let isOver = false;
    const count = () => {
      turns += 1;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const names = Array.from({ length: 50 }, (_, index) => `m${index}`);
    expect(await Promise.all(names.map((name) => asker.request(name)))).toEqual(names);
    isOver = true;
    await close();
    return turns;
  };
  expect(await turnsOf({ longestTurnMs: 5 })).toBeGreaterThan(10);
  expect(await turnsOf({})).toBeLessThan(10);
});

function serve(handlers: ConnectionHandlers): { peer: Channel; connection: Connection } {
  const [peer, channel] = channelPair();
  return { peer, connection: new Connection(channel, handlers) };
}

function pair(handlers: ConnectionHandlers, options?: ConnectionOptions) {
  const [near, far] = channelPair();
  const connection = new Connection(far, handlers, options);
  const asker = new Connection(near, { onRequest: async () => null });
  const close = async () => {
    await Promise.all([asker.close(), connection.close()]);
  };
  return { asker, connection, close };
}
