import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCodes, errorMessages, isObject } from '@groundcrew/protocol';
import { encode, FrameReader, frame, type Message, type Request } from '@groundcrew/rpc';
import type { Identity } from './access.js';
import { PendingPeers } from './pending-peers.js';

/** What an entrance stands on. */
export interface PeerAuthenticationOptions<Known extends Identity> {
  /** Whose token it is; undefined for one that is not known. */
  authenticate(token: string): Promise<Known | undefined>;
  /** A peer showed a token that is not known. */
  onRefused?(address: string): void;
  /** What a peer may send in one message before it is known. */
  readonly maxUntrustedBytes: number;
}

/** A peer that has shown who it is. */
export interface AuthenticatedPeer<Known extends Identity> {
  readonly identity: Known;
  /** What it has sent, beginning with its `connect`, without the token. */
  readonly head: Buffer;
  /** Answers its `connect` with an error, and ends the connection. */
  refuse(message: string): void;
}

/** Where peers of a port show who they are, before anything of theirs is read by a runtime. */
export class PeerAuthentication<Known extends Identity> {
  private readonly pendingPeers = new PendingPeers();

  constructor(private readonly options: PeerAuthenticationOptions<Known>) {}

  /** Resolves when the peer is known; undefined when it is gone or was sent away. The socket is paused then. */
  admit(socket: Duplex, address = ''): Promise<AuthenticatedPeer<Known> | undefined> {
    return new Promise((resolve) => {
      const asking = new AskedPeer(socket, {
        ...this.options,
        onRefused: () => this.options.onRefused?.(address),
        pendingPeers: this.pendingPeers,
        done: resolve,
      });
      asking.begin();
    });
  }
}

interface AskedOptions<Known extends Identity> extends Omit<PeerAuthenticationOptions<Known>, 'onRefused'> {
  readonly pendingPeers: PendingPeers;
  onRefused(): void;
  done(entered: AuthenticatedPeer<Known> | undefined): void;
}

/** One peer until it is known. */
class AskedPeer<Known extends Identity> {
  private readonly peer;
  private readonly reader: FrameReader;
  private readonly waiting: Message[] = [];
  private rest: Buffer = Buffer.alloc(0);
  private isOver = false;
  private isAsking = false;

  constructor(
    private readonly socket: Duplex,
    private readonly options: AskedOptions<Known>,
  ) {
    this.reader = new FrameReader({ maxBodyBytes: options.maxUntrustedBytes });
    this.peer = options.pendingPeers.enter(() => this.leave());
  }

  begin(): void {
    this.socket.on('data', this.take);
    this.socket.on('error', this.gone);
    this.socket.on('close', this.gone);
    this.socket.on('end', this.gone);
  }

  private readonly gone = () => this.leave();

  private readonly take = (chunk: Buffer) => {
    this.rest = this.rest.length === 0 ? chunk : Buffer.concat([this.rest, chunk]);
    if (this.rest.length > 2 * this.options.maxUntrustedBytes) this.leave();
    else void this.next();
  };

  /** Reads byte by byte: what follows the message that lets it in is not for here. */
  private async next(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      while (!this.isOver) {
        const message = this.read();
        if (!message) return;
        await this.answer(message);
      }
    } catch {
      this.leave();
    } finally {
      this.isAsking = false;
    }
  }

  private read(): Message | undefined {
    let at = 0;
    while (at < this.rest.length && this.waiting.length === 0) {
      this.reader.push(this.rest.subarray(at, at + 1), (message) => this.waiting.push(message));
      at += 1;
    }
    this.rest = this.rest.subarray(at);
    return this.waiting.shift();
  }

  private async answer(message: Message): Promise<void> {
    if (!('method' in message) || !('id' in message)) return;
    const request = message as Request;
    const token = request.method === 'connect' ? tokenIn(request.params) : undefined;
    if (token === undefined) {
      const isWrong = request.method === 'connect';
      this.refuse(request, isWrong ? 'authenticationFailed' : 'authenticationRequired');
      if (this.peer.asked()) this.leave();
      return;
    }
    const identity = this.peer.mayGuess() ? await this.options.authenticate(token) : undefined;
    if (this.isOver) return;
    if (identity) return this.enter(identity, request);
    const isLast = this.peer.guessedWrong();
    this.options.onRefused();
    await pause(this.options.pendingPeers.delay(), undefined, { ref: false });
    this.refuse(request, 'authenticationFailed');
    if (isLast) this.leave();
  }

  private enter(identity: Known, request: Request): void {
    const { token: _, ...params } = request.params as Record<string, unknown>;
    const connect = Buffer.from(frame(encode({ ...request, params })));
    this.end();
    this.options.pendingPeers.welcomed();
    this.socket.pause();
    this.options.done({
      identity,
      head: Buffer.concat([connect, this.rest]),
      refuse: (message) => {
        const data = { code: 'overloaded', retryable: true };
        const error = { code: errorCodes.requestFailed, message, data };
        this.socket.end(frame(encode({ jsonrpc: '2.0', id: request.id, error })));
      },
    });
  }

  private refuse({ id }: Request, kind: 'authenticationFailed' | 'authenticationRequired'): void {
    if (this.isOver) return;
    const error = { code: errorCodes[kind], message: errorMessages[kind] };
    this.socket.write(frame(encode({ jsonrpc: '2.0', id, error })));
  }

  private leave(): void {
    if (this.isOver) return;
    this.end();
    this.socket.on('error', () => undefined);
    this.socket.end();
    setTimeout(() => this.socket.destroy(), lingerMs).unref();
    this.options.done(undefined);
  }

  private end(): void {
    this.isOver = true;
    this.peer.disconnect();
    this.socket.off('data', this.take);
    this.socket.off('error', this.gone);
    this.socket.off('close', this.gone);
    this.socket.off('end', this.gone);
  }
}

const lingerMs = 1_000;

function tokenIn(params: unknown): string | undefined {
  if (!isObject(params)) return undefined;
  return typeof params.token === 'string' ? params.token : undefined;
}
