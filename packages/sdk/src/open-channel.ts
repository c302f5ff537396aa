import type { Channel } from '@groundcrew/rpc';

/** Opens the channel of an app; the signal ends the wait for it, and closes one that comes too late. */
export async function openChannel(
  open: () => Channel | Promise<Channel>,
  signal: AbortSignal,
): Promise<Channel> {
  const opening = Promise.resolve(open());
  let stop: () => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => {
      reject(signal.reason);
      opening.then(
        (late) => late.close(),
        () => undefined, // nobody waits for it any more
      );
    };
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([opening, stopped]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}
