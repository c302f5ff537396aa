import { IncomingMessage } from 'node:http';

/** `groundcrew` is a stream of messages without WebSocket's frames: the door of several tenants speaks it to a tenant's runtime. */
const servedProtocols = /\b(?:websocket|groundcrew)\b/i;

/**
 * A request that offers a protocol that is not served here is answered in this one: clients that know HTTP/2 offer it with each
 * request, and a server need not take it.
 */
export class PlainRequest extends IncomingMessage {
  private isOffered = false;

  /** Node asks for it when it has read the headers, and hands the connection over where it is true. */
  get upgrade(): boolean {
    const { upgrade: offered = '' } = this.headers;
    return this.isOffered && (this.method === 'CONNECT' || servedProtocols.test(offered));
  }

  set upgrade(isOffered: boolean) {
    this.isOffered = isOffered;
  }
}
