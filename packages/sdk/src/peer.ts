import { randomUUID } from 'node:crypto';
import { type Channel, connectTcp, stdioChannel } from '@groundcrew/rpc';
import type { ClientOptions } from './client-options.js';
import {
  addressOf,
  type ChannelRuntimeConnection,
  RuntimeConnection,
  type StdioRuntimeConnection,
  type TcpRuntimeConnection,
  type UriRuntimeConnection,
} from './connection-options.js';
import { GroundcrewError, toError } from './errors.js';
import { openInProcess } from './in-process.js';
import { openChannel } from './open-channel.js';
import { RuntimeChild } from './spawn.js';

/** The runtime at the other end, and how it is brought to its end. */
export interface Peer {
  readonly channel: Channel;
  /** The port it listens on, if it does. */
  readonly port?: number;
  /** What the handshake must show. */
  readonly token?: string;
  /** It is there for this client alone, and goes with it. */
  readonly isOwned: boolean;
  /** Why the channel ended, once it has. */
  explain(): Promise<string>;
  /** Lets it end in peace, after its channel has been closed. */
  end(): Promise<void>;
  /** Ends it at once. */
  kill(): Promise<void>;
}

/** Starts or finds the runtime; the signal stops the attempt and leaves nothing behind. */
export async function openPeer(client: ClientOptions, signal: AbortSignal): Promise<Peer> {
  signal.throwIfAborted();
  const connection = client.connection ?? RuntimeConnection.forStdio();
  switch (connection.kind) {
    case 'stdio':
      return stdioPeer(connection, client);
    case 'tcp':
      return tcpPeer(connection, client, signal);
    case 'uri':
      return uriPeer(connection, signal);
    case 'inprocess':
      return inProcessPeer(client);
    case 'channel':
      return channelPeer(connection, signal);
  }
}

function stdioPeer(connection: StdioRuntimeConnection, client: ClientOptions): Peer {
  const child = new RuntimeChild({ connection, client, transport: ['--stdio'] });
  return { ...ownedChild(child), channel: stdioChannel({ input: child.output, output: child.input }) };
}

async function tcpPeer(
  connection: TcpRuntimeConnection,
  client: ClientOptions,
  signal: AbortSignal,
): Promise<Peer> {
  const { port: wanted = 0, connectionToken: token = randomUUID() } = connection;
  const child = new RuntimeChild({
    connection,
    client,
    transport: ['--port', String(wanted)],
    connectionToken: token,
  });
  try {
    const port = await child.port(signal);
    const channel = await connectTcp({ port }, signal);
    return { ...ownedChild(child), channel, port, token };
  } catch (error) {
    await child.kill();
    throw error;
  }
}

function ownedChild(child: RuntimeChild): Pick<Peer, 'isOwned' | 'explain' | 'end' | 'kill'> {
  return { isOwned: true, explain: () => child.explain(), end: () => child.end(), kill: () => child.kill() };
}

async function uriPeer({ url, connectionToken }: UriRuntimeConnection, signal: AbortSignal): Promise<Peer> {
  const addresses = url.split(',').map(addressOf);
  let reason: unknown;
  for (const address of addresses) {
    try {
      const channel = await connectTcp(address, signal);
      return { ...foreign(url), channel, port: address.port, ...tokenOf(connectionToken) };
    } catch (error) {
      signal.throwIfAborted();
      reason = error;
    }
  }
  const text = `No runtime answers at ${url}: ${toError(reason).message}`;
  throw new GroundcrewError('start_failed', text, { cause: reason });
}

async function channelPeer(
  { open, connectionToken }: ChannelRuntimeConnection,
  signal: AbortSignal,
): Promise<Peer> {
  const channel = await openChannel(open, signal);
  return { ...foreign('the other end of the channel'), channel, ...tokenOf(connectionToken) };
}

async function inProcessPeer(client: ClientOptions): Promise<Peer> {
  const { channel, close } = await openInProcess(client);
  return {
    channel,
    isOwned: true,
    explain: async () => 'The runtime in this process was closed',
    end: close,
    kill: close,
  };
}

function foreign(place: string): Pick<Peer, 'isOwned' | 'explain' | 'end' | 'kill'> {
  const nothing = async () => undefined;
  return {
    isOwned: false,
    explain: async () => `The runtime at ${place} closed the connection`,
    end: nothing,
    kill: nothing,
  };
}

function tokenOf(token: string | undefined): Pick<Peer, 'token'> {
  return token === undefined ? {} : { token };
}
