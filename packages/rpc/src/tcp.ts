import { once } from 'node:events';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:tls';
import { type ByteChannelOptions, byteChannel } from './byte-channel.js';
import type { Channel } from './channel.js';

/** Where to listen, and what is called for each peer that connects. */
export interface ListenOptions {
  /** 0 lets the system choose. */
  readonly port: number;
  /** Only this machine can connect unless another host is named. */
  readonly host?: string;
  readonly channel?: ByteChannelOptions;
  readonly tls?: TlsIdentity;
  onChannel(channel: Channel): void;
}

/** The same, for what looks at the bytes itself. */
export interface ListenSocketsOptions extends Pick<ListenOptions, 'port' | 'host' | 'tls'> {
  onSocket(socket: Socket): void;
}

/** By what a port shows that it is the one that is meant. */
export interface TlsIdentity {
  readonly cert: string;
  readonly key: string;
}

/** An open port. */
export interface Listener {
  readonly port: number;
  /** Takes no more peers; those that are there stay. */
  refuse(): void;
  /** Shows another certificate from now on. */
  renew(tls: TlsIdentity): void;
  /** Takes no more peers and closes the channels of those that are there. */
  close(): Promise<void>;
}

/** Where to connect to. */
export interface ConnectOptions {
  readonly port: number;
  readonly host?: string;
  readonly channel?: ByteChannelOptions;
}

/** Resolves when the port is open; rejects with the system's error, such as code EADDRINUSE. */
export async function listenTcp({ channel: options, onChannel, ...where }: ListenOptions): Promise<Listener> {
  const channels = new Set<Channel>();
  const listener = await listenSockets({
    ...where,
    onSocket: (socket) => {
      const channel = socketChannel(socket, options);
      channels.add(channel);
      socket.once('close', () => channels.delete(channel));
      onChannel(channel);
    },
  });
  return {
    ...listener,
    close: async () => {
      await Promise.all([listener.close(), ...[...channels].map((channel) => channel.close())]);
    },
  };
}

/** The same for bare sockets. Closing it leaves open sockets to their owners. */
export async function listenSockets({ port, host, tls, onSocket }: ListenSocketsOptions): Promise<Listener> {
  const options = { allowHalfOpen: true, noDelay: true };
  const server = tls
    ? createTlsServer({ ...options, ...tls, minVersion: 'TLSv1.2', handshakeTimeout: handshakeMs }, onSocket)
    : createServer(options, onSocket);
  server.listen({ port, host: host ?? loopback });
  await once(server, 'listening');
  // What fails from here on is one peer that could not be accepted; the others go on.
  server.on('error', () => undefined);
  return {
    port: portOf(server),
    refuse: () => void server.close(),
    renew: (identity) => {
      if (tls) (server as TlsServer).setSecureContext({ ...identity, minVersion: 'TLSv1.2' });
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
      }),
  };
}

const handshakeMs = 10_000;

/** Resolves when the peer has accepted; rejects with the system's error or the signal's reason. */
export async function connectTcp(options: ConnectOptions, signal?: AbortSignal): Promise<Channel> {
  signal?.throwIfAborted();
  const { port, host = loopback } = options;
  const socket = createConnection({ port, host, allowHalfOpen: true, noDelay: true });
  try {
    await once(socket, 'connect', { signal });
  } catch (error) {
    socket.destroy();
    signal?.throwIfAborted();
    throw error;
  }
  return socketChannel(socket, options.channel);
}

/** Half open: what we still have to say is sent although the peer has said all. */
function socketChannel(socket: Socket, options?: ByteChannelOptions): Channel {
  return byteChannel({ input: socket, output: socket }, options);
}

function portOf(server: Server): number {
  const address = server.address() as AddressInfo; // a server listening on a port has no other kind of address
  return address.port;
}

const loopback = '127.0.0.1';
