import { join, resolve } from 'node:path';
import type { StorePlace } from '@groundcrew/store-sqlite';
import { homeDirectory } from '../config/home.js';
import { textFlag } from '../flags/flags.js';
import { storeFile } from '../stores/home-store.js';
import type { Terminal } from '../terminal/terminal.js';

/** Names the home whose store is meant. */
export const homeFlag = textFlag(
  '--home',
  'DIR',
  'the home whose store is meant, instead of GROUNDCREW_HOME',
);

/** Where the store is that a command is to look at; settings are not read, for they may be broken too. */
export function storePlace(
  home: string | undefined,
  { environment, workingDirectory }: Pick<Terminal, 'environment' | 'workingDirectory'>,
): StorePlace {
  const directory = resolve(workingDirectory, home ?? homeDirectory(environment, { isHeadless: false }));
  return { file: storeFile(directory), runDirectory: join(directory, 'run') };
}
