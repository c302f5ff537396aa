import type { FileSearch } from '../exec/denied-paths.js';
import { Ripgrep } from './ripgrep.js';

/** A search for files by ripgrep, in a process of its own: what takes too long or finds too much is given up. */
export function fileSearch(): FileSearch {
  const ripgrep = new Ripgrep();
  return async (root, globs) => {
    const parameters = ['--files', '--hidden', '--no-ignore', '--null'];
    const patterns = globs.flatMap((glob) => ['--glob', glob]);
    const signal = AbortSignal.timeout(longestSearch);
    try {
      const { stdout, isCut } = await ripgrep.run(
        [...parameters, ...patterns],
        { workingDirectory: root },
        signal,
      );
      return isCut
        ? undefined
        : stdout
            .toString()
            .split('\0')
            .filter((name) => name !== '');
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
  };
}

/** Milliseconds: every command waits for it. */
const longestSearch = 2000;
