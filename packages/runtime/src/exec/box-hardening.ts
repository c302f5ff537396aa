import { closeSync } from 'node:fs';
import { covering, inheritedDescriptors, namelessFile, type Stream } from './descriptors.js';
import { systemCallFilter } from './system-calls.js';

/** What a box of bubblewrap is started with besides its arguments. */
export interface BoxHardening {
  /** Arguments of bubblewrap. */
  readonly words: readonly string[];
  readonly stdio: Stream[];
  /** To be called once the box was started. */
  close(): void;
}

/** Closes to programs in a box with the network what namespaces leave open: keyrings, and descriptors other than these streams. */
export function hardenBox(
  streams: readonly Stream[],
  { filtersCalls }: { readonly filtersCalls: boolean },
): BoxHardening {
  const filter = filtersCalls ? systemCallFilter(true) : undefined;
  const file = namelessFile(filter ?? '');
  return {
    words: filter === undefined ? [] : ['--seccomp', String(streams.length)],
    stdio: covering([...streams, file], { inherited: inheritedDescriptors(), cover: file }),
    close: () => closeSync(file),
  };
}
