import type { Socket } from 'node:net';

/** What a connection carries at the moment. */
export interface Carried {
  onBytes(bytes: Buffer): void;
  /** No more bytes will come; with the error that is the reason, if there is one. */
  onGone(error: Error | undefined): void;
}

/** What is sent to have an answer. */
export interface Outgoing {
  /** All before the body, in ASCII or Latin-1. */
  readonly head: string;
  readonly body: readonly Uint8Array[];
}

/** One connection to a service. It carries one call after the other. */
export class Connection {
  readonly #socket: Socket;
  #carried: Carried | undefined;
  #error: Error | undefined;
  #calls = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    // A model may think for minutes in silence; keep-alive packets remind routers of this connection.
    socket.setKeepAlive(true, keepAliveAfter);
    socket.on('data', (bytes) => this.#receive(bytes));
    socket.on('error', (error) => {
      this.#error = error;
    });
    socket.on('end', () => this.#lose());
    socket.on('close', () => this.#lose());
  }

  get isOpen(): boolean {
    return !this.#socket.destroyed && this.#socket.writable;
  }

  /** True when an earlier call went over it. */
  get isReused(): boolean {
    return this.#calls > 1;
  }

  /** Sends a request; what comes from now on is for `carried`. */
  carry(carried: Carried, { head, body }: Outgoing, onSent: () => void): void {
    const socket = this.#socket;
    this.#carried = carried;
    this.#calls += 1;
    socket.ref();
    const sent = (error?: Error | null) => {
      if (!error) onSent();
    };
    const last = body.length - 1;
    socket.cork();
    socket.write(head, 'latin1', last < 0 ? sent : undefined);
    for (const [index, piece] of body.entries()) socket.write(piece, index === last ? sent : undefined);
    socket.uncork();
  }

  /** Nothing is carried for now, which keeps no process alive. */
  idle(): void {
    this.#carried = undefined;
    this.#socket.resume();
    this.#socket.unref();
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  destroy(): void {
    this.#carried = undefined;
    this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    if (this.#carried) this.#carried.onBytes(bytes);
    else this.destroy();
  }

  #lose(): void {
    const carried = this.#carried;
    this.destroy();
    carried?.onGone(this.#error);
  }
}

const keepAliveAfter = 1_000;
