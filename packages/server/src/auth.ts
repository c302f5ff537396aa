import { createHash, timingSafeEqual } from 'node:crypto';
import { errorCodes, errorMessages } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';

/** Lets one connection in once it has shown the token; until then nothing else answers. */
export class Gatekeeper {
  private hasShown = false;

  constructor(private readonly token: string | undefined) {}

  /** Whether the peer may ask and be told. */
  get isIn(): boolean {
    return this.hasShown || this.token === undefined;
  }

  /** Throws the error that clients know for each way of being wrong. */
  admit(method: string, params: unknown): void {
    if (method === 'connect') this.check(tokenIn(params));
    else if (!this.isIn)
      throw new RpcError(errorCodes.authenticationRequired, errorMessages.authenticationRequired);
  }

  private check(shown: string | undefined): void {
    if (this.token === undefined) {
      if (shown === undefined) return;
      throw new RpcError(errorCodes.authenticationNotConfigured, errorMessages.authenticationNotConfigured);
    }
    if (shown === undefined || !isSame(shown, this.token)) {
      throw new RpcError(errorCodes.authenticationFailed, errorMessages.authenticationFailed);
    }
    this.hasShown = true;
  }
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
