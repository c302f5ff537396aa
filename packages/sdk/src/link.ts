import {
  errorCodes,
  type MethodName,
  type Methods,
  type Params,
  protocolVersion,
  type Result,
} from '@groundcrew/protocol';
import { Connection, type Call as IncomingCall, RpcError } from '@groundcrew/rpc';
import type { ClientOptions } from './client-options.js';
import { GroundcrewError, isConnectionClosed, isConnectionLost } from './errors.js';
import { openPeer, type Peer } from './peer.js';

/** What a link does with requests and notifications of the runtime. */
export interface LinkHandlers {
  onRequest(method: string, params: unknown, call: IncomingCall): Promise<unknown>;
  onNotification(method: string, params: unknown): void;
}

/** One connection to one runtime, from the handshake to the end. */
export class Link {
  /** Resolves when the link has ended, with the reason; never rejects. */
  readonly lost: Promise<GroundcrewError>;
  private readonly connection: Connection;
  private readonly calls = new Set<Promise<unknown>>();

  private constructor(
    private readonly peer: Peer,
    handlers: LinkHandlers,
  ) {
    // The runtime is trusted not to flood its own client; to stop reading its answers could stop both.
    this.connection = new Connection(peer.channel, handlers, { maxQueuedBytes: Number.POSITIVE_INFINITY });
    this.lost = this.connection.closed.then(
      async () => new GroundcrewError('connection_lost', await peer.explain()),
    );
  }

  /** Starts or finds the runtime and shakes hands; whatever fails leaves nothing behind. */
  static async open(options: ClientOptions, handlers: LinkHandlers, signal: AbortSignal): Promise<Link> {
    const peer = await openPeer(options, signal);
    const link = new Link(peer, handlers);
    const kill = () => void link.kill();
    signal.addEventListener('abort', kill, { once: true });
    try {
      signal.throwIfAborted();
      await link.shakeHands();
      return link;
    } catch (error) {
      await link.kill();
      signal.throwIfAborted();
      throw isConnectionLost(error)
        ? new GroundcrewError('start_failed', error.message, { cause: error })
        : error;
    } finally {
      signal.removeEventListener('abort', kill);
    }
  }

  get port(): number | undefined {
    return this.peer.port;
  }

  /** Whether the runtime goes with this link; if not, it can be found again. */
  get isOwned(): boolean {
    return this.peer.isOwned;
  }

  /** Rejects with what the runtime refuses, or with the reason why it is gone. */
  async call<K extends MethodName>(
    method: K,
    params: Params<Methods[K]>,
    signal?: AbortSignal,
  ): Promise<Result<Methods[K]>> {
    const asked = this.connection.request(method, params, signal);
    this.calls.add(asked);
    try {
      // The runtime is taken at its word: a newer one may say more than the table knows.
      return (await asked.finally(() => this.calls.delete(asked))) as Result<Methods[K]>;
    } catch (error) {
      throw isConnectionClosed(error) ? await this.lost : error;
    }
  }

  /** Ends when all that was asked is answered. */
  async closeWhenIdle(): Promise<void> {
    await Promise.allSettled(this.calls);
    await this.connection.close();
  }

  /** Ends in peace: an owned runtime is asked to close, then waited for. */
  async close(): Promise<void> {
    try {
      if (this.peer.isOwned) await this.call('runtime.shutdown', {}, AbortSignal.timeout(shutdownMs));
    } finally {
      await this.connection.close();
      await this.peer.end();
    }
  }

  /** Ends at once. */
  async kill(): Promise<void> {
    await Promise.all([this.peer.kill(), this.connection.close()]);
  }

  private async shakeHands(): Promise<void> {
    const { token } = this.peer;
    const clientInfo = { name: 'groundcrew-sdk' };
    const version = await this.call('connect', { clientInfo, ...(token !== undefined && { token }) }).catch(
      async (error: unknown) => {
        if (!(error instanceof RpcError) || error.code !== errorCodes.methodNotFound) throw error;
        return this.call('ping', {});
      },
    );
    if (version.protocolVersion === protocolVersion) return;
    const text = `The runtime speaks version ${version.protocolVersion} of the protocol, this SDK version ${protocolVersion}`;
    throw new GroundcrewError('protocol_mismatch', text);
  }
}

const shutdownMs = 10_000;
