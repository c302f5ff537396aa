import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/** What happens to the connection that next sends a statement with a certain word in it. */
export type Cut =
  /** The statement does not reach the server. */
  | 'before'
  /** The server has it, and its answer does not come back. */
  | 'after'
  /** The server has it, and the connection is gone at once. */
  | 'during'
  /** As `after`, and the server cannot be reached from then on. */
  | 'last'
  /** So many bytes of the statement reach the server. */
  | { readonly asked: number }
  /** So many bytes of its answer come back. */
  | { readonly answered: number };

/** A way to PostgreSQL that can be cut at the worst moment. */
export class SeveringProxy {
  private readonly sockets = new Set<Socket>();
  private readonly cuts: Cut[] = [];
  private isDown = false;
  private isFrozen = false;
  /** How often a connection was cut. */
  severed = 0;

  private constructor(
    private readonly server: Server,
    private readonly upstream: number,
    /** Only what holds this word is cut: the name of a prepared statement stands in each of its uses. */
    private readonly word: string,
  ) {
    server.on('connection', (socket) => this.serve(socket));
  }

  static async open(upstream: number, word: string): Promise<SeveringProxy> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new SeveringProxy(server, upstream, word);
  }

  /** The same address by way of the proxy. */
  through(url: string): string {
    const address = this.server.address();
    if (address === null || typeof address === 'string') throw new Error('The proxy has no port');
    const through = new URL(url);
    through.port = `${address.port}`;
    return through.href;
  }

  /** What becomes of the next statements, one after the other. */
  plan(...cuts: readonly Cut[]): void {
    this.cuts.push(...cuts);
  }

  /** Cuts all connections, and refuses new ones until `up`. */
  down(): void {
    this.isDown = true;
    for (const socket of this.sockets) socket.destroy();
  }

  up(): void {
    this.isDown = false;
  }

  /** Says nothing from now on, on connections that are there and on new ones, as a machine without power does. */
  freeze(): void {
    this.isFrozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Cuts the connection that was made first, and no other. */
  severOldest(): void {
    const [oldest] = this.sockets;
    if (oldest) this.severed += 1;
    oldest?.destroy();
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(client: Socket): void {
    if (this.isDown) {
      client.destroy();
      return;
    }
    if (this.isFrozen) {
      this.sockets.add(client.pause());
      return;
    }
    const server = connect(this.upstream, '127.0.0.1');
    const pair = [client, server];
    let isMuted = false;
    let isLast = false;
    /** Bytes that the client still gets, where that is bounded. */
    let left: number | undefined;
    const sever = () => {
      this.severed += 1;
      for (const socket of pair) socket.destroy();
    };
    for (const socket of pair) {
      this.sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.sockets.delete(socket);
        for (const other of pair) other.destroy();
      });
    }
    client.on('data', (chunk: Buffer) => {
      const cut = chunk.includes(this.word) ? this.cuts.shift() : undefined;
      if (cut === 'before') {
        sever();
        return;
      }
      if (typeof cut === 'object' && 'asked' in cut) {
        server.write(chunk.subarray(0, cut.asked), sever);
        return;
      }
      if (typeof cut === 'object') left = cut.answered;
      isMuted ||= cut === 'after' || cut === 'last';
      isLast ||= cut === 'last';
      server.write(chunk, () => {
        if (cut === 'during') sever();
      });
    });
    server.on('data', (chunk: Buffer) => {
      if (isMuted && isLast) this.down();
      if (isMuted) sever();
      else if (left !== undefined && chunk.length > left) client.write(chunk.subarray(0, left), sever);
      else client.write(chunk);
      if (left !== undefined) left -= chunk.length;
    });
  }
}
