import { IncomingMessage } from 'node:http';

/**
 * A request that offers another protocol than WebSocket is answered in this one: clients that know HTTP/2 offer it with each
 * request, and a server need not take it.
 */
export class PlainRequest extends IncomingMessage {
  private isOffered = false;

  /** Node asks for it when it has read the headers, and hands the connection over where it is true. */
  get upgrade(): boolean {
    const { upgrade: offered = '' } = this.headers;
    return this.isOffered && (this.method === 'CONNECT' || /\bwebsocket\b/i.test(offered));
  }

  set upgrade(isOffered: boolean) {
    this.isOffered = isOffered;
  }
}
