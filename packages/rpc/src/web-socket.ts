import type { Readable } from 'node:stream';
import type { Channel } from './channel.js';
import { type TextChannelOptions, textChannel } from './text-channel.js';

/** What is used of a socket of the package `ws`, whose own types apps that have the SDK need not install. */
interface WebSocket {
  readonly bufferedAmount: number;
  send(data: string, sent?: (error?: Error) => void): void;
  send(
    data: string | Buffer,
    options: { readonly binary: boolean; readonly fin: boolean },
    sent?: (error?: Error) => void,
  ): void;
  ping(): void;
  pause(): void;
  resume(): void;
  close(code: number): void;
  terminate(): void;
  once(event: 'close', listener: () => void): unknown;
  on(event: 'message', listener: (data: RawData, isBinary: boolean) => void): unknown;
  on(event: 'error' | 'close' | 'ping' | 'pong', listener: () => void): unknown;
}

type RawData = Buffer | ArrayBuffer | Buffer[];

/** A socket of the package `ws`, and the bytes below it, which are counted until the peer is trusted. */
export interface OpenSocket {
  readonly socket: WebSocket;
  readonly bytes?: Readable;
}

/** How far a WebSocket goes along with its peer. */
export interface WebSocketOptions extends TextChannelOptions {
  /** Bytes that may wait for a peer that sends pings and does not read their answers; 64 MiB by default. */
  readonly maxUnreadPongs?: number;
}

/** A Channel over a WebSocket of a server: each message is one text. It owns the socket from now on. */
export function webSocketChannel(
  { socket, bytes }: OpenSocket,
  options: WebSocketOptions = {},
): Channel & { trust(): void } {
  const channel = textChannel(
    {
      send: (text, left) => socket.send(text, left),
      sendPieces: (pieces, left) => {
        const last = pieces.length - 1;
        for (const [index, piece] of pieces.entries())
          socket.send(piece, { binary: false, fin: index === last }, index === last ? left : undefined);
      },
      pause: () => socket.pause(),
      resume: () => socket.resume(),
      close: () => socket.close(1000),
      terminate: () => socket.terminate(),
      listen: ({ receive, refuse, end }) => {
        socket.on('message', (data, isBinary) => (isBinary ? refuse() : receive(bufferOf(data))));
        socket.on('error', () => undefined); // `close` follows
        socket.on('close', end);
      },
    },
    options,
  );
  const stopCounting = countBytes(socket, bytes, options.maxUntrustedBytes);
  const stopBeating = keepAlive(socket);
  boundAnswers(socket, options.maxUnreadPongs);
  socket.once('close', stopBeating);
  const { trust } = channel;
  // The same channel, which has to stop counting when it is trusted.
  return Object.assign(channel, {
    trust: () => {
      stopCounting();
      trust?.call(channel);
    },
  });
}

/** One who has not shown the token may neither send much at once, nor go on for long. */
function countBytes(socket: WebSocket, bytes: Readable | undefined, most: number | undefined): () => void {
  if (!bytes || most === undefined) return () => undefined;
  let count = 0;
  const add = (chunk: Buffer) => {
    count += chunk.length;
    if (count > most * untrustedMessages) socket.terminate();
  };
  bytes.on('data', add);
  return () => bytes.off('data', add);
}

const untrustedMessages = 4;

/** Each ping is answered at once: a peer that sends many and reads nothing would fill the memory. */
function boundAnswers(socket: WebSocket, most = 64 * 1024 * 1024): void {
  socket.on('ping', () => {
    if (socket.bufferedAmount > most) socket.terminate();
  });
}

/** A peer that vanished without a word is noticed. */
function keepAlive(socket: WebSocket): () => void {
  let isThere = true;
  socket.on('pong', () => {
    isThere = true;
  });
  const timer = setInterval(() => {
    if (!isThere) return socket.terminate();
    isThere = false;
    socket.ping();
  }, beatMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

const beatMilliseconds = 30_000;

function bufferOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
