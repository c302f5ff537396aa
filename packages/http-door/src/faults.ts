import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { guards } from './guards.js';

/** Why a request is refused. */
export interface Fault {
  readonly status: number;
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export const notFound: Fault = { status: 404, text: 'There is nothing here' };

/** What needs no token is there to be read. */
export const readOnly: Fault = {
  status: 405,
  text: 'Only GET and HEAD are answered here',
  headers: { allow: 'GET, HEAD' },
};

/** No request of the web's own type can have this method. */
export const unknownMethod: Fault = { status: 405, text: 'This method is not answered here' };

export const twoHosts: Fault = { status: 400, text: 'A request has one Host' };

export const unauthorised: Fault = {
  status: 401,
  text: 'Show the token: Authorization: Bearer …',
  headers: { 'www-authenticate': 'Bearer' },
};

/** Answers a request with why it is refused. */
export function refuse(outgoing: ServerResponse, { status, text, headers }: Fault): void {
  if (outgoing.headersSent) {
    outgoing.destroy();
    return;
  }
  // What the client still sends is not read.
  outgoing.writeHead(status, {
    ...guards,
    'content-type': 'text/plain; charset=utf-8',
    connection: 'close',
    ...headers,
  });
  outgoing.end(`${text}\n`);
}

/** The same for one that asks for a WebSocket, whose answer Node leaves to us. */
export function refuseSocket(socket: Duplex, { status, text }: Fault): void {
  const body = `${text}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: text/plain; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    ...Object.entries(guards).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
