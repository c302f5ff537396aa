import type { Callbacks, Params, Result } from '@groundcrew/protocol';

/** A client that requests can be put to. */
export interface AskedClient {
  readonly clientId: string;
  /** Rejects with ClientGone when the client has left, else when it fails to answer. */
  ask<K extends keyof Callbacks>(
    callback: K,
    params: Params<Callbacks[K]>,
    signal: AbortSignal,
  ): Promise<Result<Callbacks[K]>>;
}

/** The client that was asked is no longer connected; another one may answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';
}
