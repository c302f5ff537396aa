import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { loadDoctor } from '@groundcrew/store-sqlite';
import { chooseStore } from '../config/store-choice.js';
import { UsageError } from '../flags/arguments.js';
import { switchFlag } from '../flags/flags.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { defineCommand, show } from './command.js';
import { homeFlag, storePlace } from './store-place.js';

/** `groundcrew backup`: one file with all sessions, taken while they run. */
export const backup = defineCommand({
  usage: ['groundcrew backup FILE [--home DIR] [--force]'],
  summary: 'Copies all stored sessions into one file, also while runtimes use them',
  flags: {
    home: homeFlag,
    force: switchFlag('--force', 'replace FILE if it is there'),
  },
  notes: `The copy is checked before it gets its name. To use it, stop the runtimes and put it in the place of
groundcrew.db in a home, where no groundcrew.db-wal may lie. Files that sessions made are not in it.`,
  mostWords: 1,
  run: async ({ flags, words: [name] }, terminal) => {
    if (name === undefined) throw new UsageError('groundcrew backup needs the FILE to write');
    const { file } = storePlace(flags.home, terminal);
    const { environment } = terminal;
    if ((await chooseStore({ environment, homeDirectory: dirname(file) })) !== undefined)
      return fail('The sessions are in PostgreSQL: back it up with pg_dump or pg_basebackup', terminal);
    if (!existsSync(file)) return fail(`There is no store at ${file}`, terminal);
    const { BackupRefused, backupStore } = await loadDoctor();
    const target = resolve(terminal.workingDirectory, name);
    try {
      const { sessions, records } = backupStore({ file, target, overwrite: flags.force === true });
      return show(`${target}: ${sessions} sessions, ${records} records`, terminal);
    } catch (error) {
      if (!(error instanceof BackupRefused)) throw error;
      return fail(error.message, terminal);
    }
  },
});

function fail(message: string, { errorOutput }: Pick<Terminal, 'errorOutput'>): number {
  errorOutput.write(`groundcrew: ${message}\n`);
  return exitCodes.failed;
}
