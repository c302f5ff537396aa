import type { Channel } from '@groundcrew/rpc';
import type { Identity } from '@groundcrew/server';

/** Serves one client until its channel closes. */
export type ServeChannel = (
  channel: Channel,
  options?: { readonly isTrusted?: boolean; readonly identity?: Identity },
) => Promise<void>;

/** A client so far behind gets its deltas merged; up to there it has every one of them. */
export const channelOptions = {
  highWaterMark: 8 * 1024 * 1024,
  maxKeptBytes: 32 * 1024 * 1024,
  maxValues: 300_000,
};

/** What one who has not shown the token may send at once. */
export const maxUntrustedBytes = 64 * 1024;
