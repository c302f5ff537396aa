import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { subprotocol } from './token.js';

/** The longest message that is read at all; who is not trusted may send far less. */
const mostMessageBytes = 32 * 1024 * 1024;

/** Makes WebSockets of requests for them. The library is loaded at the first one. */
export class Sockets {
  private readonly open = new Set<WebSocket>();
  private server: Promise<WebSocketServer> | undefined;

  async accept(
    incoming: IncomingMessage,
    { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
    accepted: (socket: WebSocket) => void,
  ): Promise<void> {
    this.server ??= openServer();
    const server = await this.server;
    if (socket.destroyed) return;
    server.handleUpgrade(incoming, socket, head, (webSocket) => {
      this.open.add(webSocket);
      webSocket.once('close', () => this.open.delete(webSocket));
      accepted(webSocket);
    });
  }

  /** Ends all at once: a client that is in the middle of something comes back elsewhere. */
  close(): void {
    for (const socket of this.open) socket.terminate();
  }
}

async function openServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import('ws');
  return new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: mostMessageBytes,
    // A few bytes could unfold into very many.
    perMessageDeflate: false,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });
}
