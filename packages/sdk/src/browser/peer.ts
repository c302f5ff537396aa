import type { ClientOptions } from '../client-options.js';
import { GroundcrewError } from '../errors.js';
import { openChannel } from '../open-channel.js';
import type { Peer } from '../peer.js';

/** Opens the channel that the page names: a browser starts no processes. */
export async function openPeer(
  { connection, onModelRequest }: ClientOptions,
  signal: AbortSignal,
): Promise<Peer> {
  signal.throwIfAborted();
  if (onModelRequest)
    throw new GroundcrewError('invalid_option', 'onModelRequest has no effect in a browser: leave it out');
  if (connection?.kind !== 'channel')
    throw new GroundcrewError(
      'invalid_option',
      'A browser reaches a runtime by RuntimeConnection.forWebSocket(url) or forChannel(open)',
    );
  const { open, connectionToken: token } = connection;
  const nothing = async () => undefined;
  return {
    channel: await openChannel(open, signal),
    isOwned: false,
    explain: async () => 'The runtime closed the connection',
    end: nothing,
    kill: nothing,
    ...(token !== undefined && { token }),
  };
}
