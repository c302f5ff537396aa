import { readPlainFile } from '@groundcrew/store';

/** A file of more bytes holds no settings that anyone wrote. */
const mostBytes = 16 * 1024 * 1024;

/**
 * The text of a file that a user may have written, without the mark that some editors put first; undefined where there is none.
 * Throws as `open` does, and where it is no plain file.
 */
export function settingsText(path: string): string | undefined {
  try {
    return readPlainFile(path, mostBytes).replace(/^\uFEFF/, '');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
