import type { Readable, Writable } from 'node:stream';
import {
  CancellationTokenSource,
  createMessageConnection,
  type MessageConnection,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node.js';
import type { Channel } from '../src/channel.js';
import { Connection } from '../src/connection.js';
import { RpcError } from '../src/errors.js';

/** One end of a conversation, whichever library speaks for it. */
export interface Peer {
  request(method: string, params: object, signal?: AbortSignal): Promise<unknown>;
  notify(method: string, params: object): void;
  /** The next notification that came. */
  received(): Promise<unknown>;
  close(): void;
}

/** Ours: answers `echo`, `fail`, `crash`, `wait` and `ask back`, and repeats every notification but `heard`. */
export function ourPeer(channel: Channel): Peer {
  const received = new Inbox();
  const connection: Connection = new Connection(channel, {
    onRequest: async (method, params, call) => {
      if (method === 'echo') return params;
      if (method === 'nothing') return undefined;
      if (method === 'fail') throw new RpcError(-32001, 'not today', { retryable: false });
      if (method === 'ask back') return connection.request('echo', params);
      if (method !== 'wait') throw new RpcError(-32601, `Unhandled method ${method}`);
      connection.notify('heard', { method });
      await new Promise((resolve) => call.signal.addEventListener('abort', resolve));
      connection.notify('heard', { method: 'cancelled' });
      throw call.signal.reason;
    },
    onNotification: (method, params) => {
      if (method === 'heard') received.put(params);
      else connection.notify('heard', { method, params });
    },
  });
  return {
    request: (method, params, signal) => connection.request(method, params, signal),
    notify: (method, params) => connection.notify(method, params),
    received: () => received.take(),
    close: () => void connection.close(),
  };
}

/** The same on vscode-jsonrpc, which the published clients speak through. */
export function theirPeer(input: Readable, output: Writable): Peer {
  const received = new Inbox();
  const connection = createMessageConnection(new StreamMessageReader(input), new StreamMessageWriter(output));
  connection.onRequest(async (method, params, token) => {
    if (method === 'echo') return params;
    if (method === 'nothing') return undefined;
    if (method === 'fail') throw new ResponseError(-32001, 'not today', { retryable: false });
    if (method === 'ask back') return connection.sendRequest('echo', params);
    if (method !== 'wait') throw new ResponseError(-32601, `Unhandled method ${method}`);
    void connection.sendNotification('heard', { method });
    await new Promise((resolve) => token.onCancellationRequested(resolve));
    void connection.sendNotification('heard', { method: 'cancelled' });
    throw new ResponseError(-32800, 'Request cancelled');
  });
  connection.onNotification((method, params) => {
    if (method === 'heard') received.put(params);
    else void connection.sendNotification('heard', { method, params });
  });
  connection.listen();
  return {
    request: (method, params, signal) => requestTheirs(connection, { method, params, signal }),
    notify: (method, params) => void connection.sendNotification(method, params),
    received: () => received.take(),
    close: () => {
      connection.dispose();
      output.end();
    },
  };
}

function requestTheirs(
  connection: MessageConnection,
  { method, params, signal }: { method: string; params: object; signal: AbortSignal | undefined },
): Promise<unknown> {
  const source = new CancellationTokenSource();
  signal?.addEventListener('abort', () => source.cancel());
  return connection.sendRequest(method, params, source.token);
}

/** What came and what is waited for, in order. */
class Inbox {
  private readonly items: unknown[] = [];
  private readonly takers: ((item: unknown) => void)[] = [];

  put(item: unknown): void {
    const taker = this.takers.shift();
    if (taker === undefined) this.items.push(item);
    else taker(item);
  }

  async take(): Promise<unknown> {
    if (this.items.length > 0) return this.items.shift();
    return new Promise((resolve) => this.takers.push(resolve));
  }
}
