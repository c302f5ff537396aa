import type { Socket } from 'node:net';

/** Connections that have shown no token yet. Of too many, the one that waited longest goes: they cannot keep others out. */
export class PendingConnections {
  private readonly waiting = new Set<Socket>();

  constructor(private readonly most: number) {}

  /** A connection has come. */
  add(socket: Socket): void {
    this.waiting.add(socket);
    socket.once('close', () => this.waiting.delete(socket));
    if (this.waiting.size <= this.most) return;
    const [oldest] = this.waiting;
    if (!oldest) return;
    this.waiting.delete(oldest);
    oldest.destroy();
  }

  /** It may come in, and stays as long as it wants. */
  admit(socket: Socket): void {
    this.waiting.delete(socket);
  }
}
