import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** A way to a server that can be cut: what a node has of the network. */
export interface Way {
  readonly host: string;
  readonly port: number;
  cut(): void;
  mend(): void;
  close(): void;
}

/** A way that is a proxy. */
export class Gate implements Way {
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    private readonly upstream: number,
    readonly host: string,
  ) {
    server.on('connection', (socket) => this.pass(socket));
  }

  static async open(upstream: number, host = '127.0.0.1'): Promise<Gate> {
    const server = createServer().listen(0, host);
    await once(server, 'listening');
    return new Gate(server, upstream, host);
  }

  get port(): number {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('The gate has no port');
    return address.port;
  }

  /** Nothing passes, and neither side learns of it: as when a cable is pulled. */
  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** What was connected before is gone, new connections pass. */
  mend(): void {
    this.isCut = false;
    for (const socket of this.sockets) socket.destroy();
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private pass(client: Socket): void {
    this.keep(client);
    if (this.isCut) {
      client.pause();
      return;
    }
    const server = connect(this.upstream, '127.0.0.1');
    this.keep(server);
    const pairs = [
      [client, server],
      [server, client],
    ] as const;
    for (const [from, to] of pairs) {
      from.on('data', (chunk) => !this.isCut && to.write(chunk));
      from.on('close', () => to.destroy());
    }
  }

  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.setNoDelay(true);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.sockets.delete(socket));
  }
}
