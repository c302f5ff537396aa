import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { type CopyProgress, copySessions, type SessionStore } from '@groundcrew/store';
import { homeDirectory } from '../config/home.js';
import { chooseStore, storeFlag } from '../config/store-choice.js';
import { UsageError } from '../flags/arguments.js';
import { textFlag } from '../flags/flags.js';
import { openStore, storeFile } from '../stores/home-store.js';
import { sharedStore } from '../stores/shared-store.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { defineCommand, show } from './command.js';
import { homeFlag } from './store-place.js';

type ClosableStore = SessionStore & { close(): Promise<void> };

/** `groundcrew migrate`: all sessions into another kind of store. */
export const migrate = defineCommand({
  usage: ['groundcrew migrate --from sqlite|postgres --to postgres|sqlite [--store URL] [--home DIR]'],
  summary: 'Copies all sessions from one kind of store to the other, and compares the copies',
  flags: {
    from: textFlag('--from', 'STORE', 'where the sessions are: sqlite or postgres'),
    to: textFlag('--to', 'STORE', 'where they are copied to: postgres or sqlite'),
    store: storeFlag,
    home: homeFlag,
  },
  notes: `The address of PostgreSQL is that of --store, else GROUNDCREW_STORE, else the settings of the home. The source stays as it
is. The command may be stopped and run again: it goes on where it was. A session that a live runtime works in, or that has other
records in the other store, is left out and named. Files of sessions stay in the home.
Exit codes: 0 all sessions are in both stores and the same, 1 some were left out, 2 wrong usage.`,
  run: async ({ flags }, terminal) => {
    const { from, to } = flags;
    if (!(from === 'sqlite' && to === 'postgres') && !(from === 'postgres' && to === 'sqlite'))
      throw new UsageError('groundcrew migrate needs --from sqlite --to postgres, or the other way round');
    const { environment, workingDirectory } = terminal;
    const home = resolve(workingDirectory, flags.home ?? homeDirectory(environment, { isHeadless: false }));
    const url = await chooseStore({ given: flags.store, environment, homeDirectory: home });
    if (url === undefined)
      throw new UsageError(
        'groundcrew migrate needs the address of PostgreSQL, in --store or GROUNDCREW_STORE',
      );
    if (from === 'sqlite' && !existsSync(storeFile(home)))
      throw new UsageError(`There is no store at ${storeFile(home)}`);
    const onWarning = (message: string) => void terminal.errorOutput.write(`warning: ${message}\n`);
    const stores = { sqlite: openStore(home, { onWarning }), postgres: sharedStore({ url, onWarning }) };
    try {
      return await copy(stores[from], stores[to === 'sqlite' ? 'sqlite' : 'postgres'], terminal);
    } finally {
      await Promise.all([stores.sqlite.close(), stores.postgres.close()]);
    }
  },
});

async function copy(from: ClosableStore, to: ClosableStore, terminal: Terminal): Promise<number> {
  const owner = { runtimeId: randomUUID(), pid: process.pid, host: hostname() };
  const onProgress = (progress: CopyProgress) => void terminal.errorOutput.write(`${line(progress)}\n`);
  const { copied, alreadyThere, leftOut, records } = await copySessions({ from, to, owner, onProgress });
  show(
    `${copied} copied, ${alreadyThere} already there, ${leftOut} left out; ${records} records compared, and the same.`,
    terminal,
  );
  return leftOut === 0 ? exitCodes.done : exitCodes.failed;
}

function line({ done, of, sessionId, outcome, reason }: CopyProgress): string {
  return `${done} of ${of}: ${sessionId} ${outcome}${reason === undefined ? '' : `: ${reason}`}`;
}
