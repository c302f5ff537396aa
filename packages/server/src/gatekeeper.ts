import { createHash, timingSafeEqual } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCodes, errorMessages } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import type { PendingPeer, PendingPeers } from './pending-peers.js';

/** What a gatekeeper goes by. */
export interface GatekeeperParts {
  /** Without one, every peer is in. */
  readonly token: string | undefined;
  /** It has shown who it is before the first message, and need not again. */
  readonly isKnown?: boolean;
  /** The code that opened the channel has checked its token, and knows its identity. */
  readonly hasIdentity?: boolean;
  readonly pendingPeers: PendingPeers;
  /** The peer has shown the token. */
  trust(): void;
  /** Ends the connection; what was answered before still leaves. */
  close(): void;
}

/** Lets one connection in once it has shown the token; until then nothing else answers, and not for long. */
export class Gatekeeper {
  private readonly peer: PendingPeer | undefined;
  private hasShown = false;

  constructor(private readonly parts: GatekeeperParts) {
    if (parts.token === undefined || parts.isKnown) parts.trust();
    else this.peer = parts.pendingPeers.enter(() => parts.close());
  }

  /** Whether the peer may send requests and get events. */
  get isIn(): boolean {
    return this.hasShown || this.parts.isKnown === true || this.parts.token === undefined;
  }

  /** The connection is over. */
  disconnect(): void {
    this.peer?.disconnect();
  }

  /** Throws the error that clients know for each way of being wrong; a promise only for one that waits for its answer. */
  admit(method: string, params: unknown): Promise<never> | undefined {
    if (method === 'connect') return this.check(tokenIn(params));
    if (this.isIn) return undefined;
    if (this.peer?.asked()) this.closeSoon();
    throw new RpcError(errorCodes.authenticationRequired, errorMessages.authenticationRequired);
  }

  private check(shown: string | undefined): Promise<never> | undefined {
    const { token, pendingPeers, hasIdentity } = this.parts;
    if (hasIdentity) return undefined;
    if (token === undefined) {
      if (shown === undefined) return undefined;
      throw new RpcError(errorCodes.authenticationNotConfigured, errorMessages.authenticationNotConfigured);
    }
    if (shown === undefined && this.parts.isKnown) return undefined;
    if (shown === undefined) {
      if (this.peer?.asked()) this.closeSoon();
      throw wrongToken();
    }
    const mayGuess = this.isIn || this.peer?.mayGuess() === true;
    if (!mayGuess || !isSame(shown, token)) return this.refuse();
    this.hasShown = true;
    this.peer?.disconnect();
    pendingPeers.welcomed();
    this.parts.trust();
    return undefined;
  }

  private async refuse(): Promise<never> {
    const isLast = !this.isIn && this.peer?.guessedWrong();
    await pause(this.parts.pendingPeers.delay(), undefined, { ref: false });
    if (isLast) this.closeSoon();
    throw wrongToken();
  }

  /** After the answer that is about to be sent. */
  private closeSoon(): void {
    setImmediate(() => this.peer?.sendAway());
  }
}

function wrongToken(): RpcError {
  return new RpcError(errorCodes.authenticationFailed, errorMessages.authenticationFailed);
}

function tokenIn(params: unknown): string | undefined {
  if (typeof params !== 'object' || params === null || !('token' in params)) return undefined;
  return typeof params.token === 'string' ? params.token : undefined;
}

/** Takes the same time whatever differs. */
function isSame(shown: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(shown), digest(expected));
}
