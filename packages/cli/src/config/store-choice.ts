import type { Environment } from '@groundcrew/models';
import { UsageError } from '../flags/arguments.js';
import { textFlag } from '../flags/flags.js';
import { readStoreSetting } from './config-file.js';
import { configPath } from './home.js';

/** Names the store. */
export const storeFlag = textFlag(
  '--store',
  'URL',
  'where sessions are kept: postgres://…, or sqlite for the file of the home',
);

/** Where the name of a store may stand. */
export interface StoreChoiceOptions {
  /** Of the command line. */
  readonly given?: string | undefined;
  readonly environment: Environment;
  readonly homeDirectory: string;
}

/**
 * The address of the PostgreSQL that keeps all sessions, or undefined for the file of each home: by the command line, the
 * environment, or the file of the home. Throws UsageError, which never repeats what was given: it may hold a password.
 */
export async function chooseStore(options: StoreChoiceOptions): Promise<string | undefined> {
  const { given, environment, homeDirectory } = options;
  if (given !== undefined) return checked(given, '--store');
  const { GROUNDCREW_STORE } = environment;
  if (GROUNDCREW_STORE) return checked(GROUNDCREW_STORE, 'GROUNDCREW_STORE');
  const path = configPath(homeDirectory);
  const inFile = readStoreSetting(path);
  return inFile === undefined ? undefined : checked(inFile, `${path}: store`);
}

async function checked(text: string, place: string): Promise<string | undefined> {
  if (text === 'sqlite') return undefined;
  if (!/^\s*postgres(?:ql)?:\/\//i.test(text))
    throw new UsageError(
      `${place} needs sqlite, or an address such as postgres://user:password@host:5432/database`,
    );
  const { BadAddress, readAddresses } = await import('@groundcrew/store-postgres');
  try {
    readAddresses(text);
    return text;
  } catch (error) {
    throw error instanceof BadAddress ? new UsageError(`${place}: ${error.message}`) : error;
  }
}
