import { type ByteChannelOptions, type ByteStreams, byteChannel } from './byte-channel.js';
import type { Channel } from './channel.js';

/** The channel to the process that started this one; or, given a child's streams, to that child. */
export function stdioChannel(streams: Partial<ByteStreams> = {}, options?: ByteChannelOptions): Channel {
  const { input = process.stdin, output = process.stdout } = streams;
  return byteChannel({ input, output }, options);
}
