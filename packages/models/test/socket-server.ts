import { createHash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { onTestFinished } from 'vitest';

/** A WebSocket as its server sees it. */
export interface ServedSocket {
  /** Sends text, whole or in several frames. */
  send(...pieces: readonly string[]): void;
  /** Sends a frame as it is. */
  frame(opcode: number, data: Buffer): void;
  /** Sends bytes as they are. */
  bytes(bytes: Buffer): void;
  destroy(): void;
}

export interface SocketServer {
  readonly url: string;
  readonly port: number;
  readonly asked: { readonly url: string; readonly headers: IncomingHttpHeaders; readonly message: string }[];
  /** What came in frames that are no messages, as `opcode:hex`. */
  readonly controls: string[];
  /** Connections that ended. */
  readonly closed: Promise<void>;
}

/** A real server on loopback that takes one message a socket. */
export async function socketServer(
  answer: (socket: ServedSocket, message: string) => void,
  { status = 101, tls }: { status?: number; tls?: { readonly key: Buffer; readonly cert: Buffer } } = {},
): Promise<SocketServer> {
  const asked: SocketServer['asked'] = [];
  const controls: string[] = [];
  const server = tls ? createTlsServer(tls) : createServer();
  server.on('request', (_, response) => response.end());
  const sockets = new Set<Duplex>();
  const closed = new Promise<void>((resolve) => {
    server.on('upgrade', ({ url = '', headers }, socket: Duplex) => {
      sockets.add(socket);
      socket.on('close', () => resolve());
      socket.on('error', () => undefined);
      if (status !== 101) return socket.end(refusal(status));
      socket.write(accepted(headers['sec-websocket-key'] ?? ''));
      let bytes = Buffer.alloc(0);
      socket.on('data', (chunk: Buffer) => {
        bytes = Buffer.concat([bytes, chunk]);
        for (let frame = takeFrame(bytes); frame; frame = takeFrame(bytes)) {
          bytes = bytes.subarray(frame.size);
          if (frame.opcode === 0x8) socket.end();
          if (frame.opcode !== 0x1) {
            controls.push(`${frame.opcode}:${frame.data.toString('hex')}`);
            continue;
          }
          const message = frame.data.toString();
          asked.push({ url, headers, message });
          answer(served(socket), message);
        }
      });
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, asked, controls, closed };
}

/** A frame of a server: not masked. */
function serverFrame(opcode: number, data: Buffer, isLast = true): Buffer {
  const { length } = data;
  const head = Buffer.alloc(10);
  head[0] = (isLast ? 0x80 : 0) | opcode;
  if (length < 126) {
    head[1] = length;
    return Buffer.concat([head.subarray(0, 2), data]);
  }
  if (length < 0x10000) {
    head[1] = 126;
    head.writeUInt16BE(length, 2);
    return Buffer.concat([head.subarray(0, 4), data]);
  }
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, data]);
}

/** The first frame of a client, unmasked; nothing while it is not whole. */
function takeFrame(
  bytes: Buffer,
): { readonly opcode: number; readonly data: Buffer; readonly size: number } | undefined {
  const [first = 0, second = 0] = bytes;
  if (bytes.length < 6) return undefined;
  const { start, length } = lengthOf(bytes, second & 0x7f);
  const size = start + 4 + length;
  if (bytes.length < size || (second & 0x80) === 0) return undefined;
  const mask = bytes.subarray(start, start + 4);
  const data = Buffer.from(bytes.subarray(start + 4, size).map((byte, i) => byte ^ (mask[i % 4] ?? 0)));
  return { opcode: first & 0x0f, data, size };
}

function lengthOf(bytes: Buffer, short: number): { readonly start: number; readonly length: number } {
  if (short < 126) return { start: 2, length: short };
  if (short === 126) return { start: 4, length: bytes.readUInt16BE(2) };
  if (bytes.length < 10) return { start: 10, length: 0 };
  return { start: 10, length: Number(bytes.readBigUInt64BE(2)) };
}

function served(socket: Duplex): ServedSocket {
  return {
    send: (...pieces) =>
      pieces.forEach((piece, i) => {
        socket.write(serverFrame(i === 0 ? 0x1 : 0x0, Buffer.from(piece), i === pieces.length - 1));
      }),
    frame: (opcode, data) => void socket.write(serverFrame(opcode, data)),
    bytes: (bytes) => void socket.write(bytes),
    destroy: () => void socket.destroy(),
  };
}

function accepted(key: string): string {
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return [
    'HTTP/1.1 101 Switching Protocols',
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Accept: ${accept}`,
    '\r\n',
  ].join('\r\n');
}

function refusal(status: number): string {
  const body = JSON.stringify({ error: { message: 'no' } });
  return `HTTP/1.1 ${status} No\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`;
}
