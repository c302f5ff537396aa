import { readLog, readLogFile } from './write-ahead-log.js';

/**
 * What is wrong with a store's write-ahead log, if anything: SQLite ignores a log from its first damaged frame on without
 * a word, and then writes over what lies behind it. A torn tail is no damage.
 */
export function logDamage(file: string): string | undefined {
  const found = damageIn(file);
  // Another process may have written while this one read; what is damaged is so the second time, too.
  const again = found && damageIn(file);
  if (!again || again.offset !== found.offset) return undefined;
  const commits = again.commitsBehind === 1 ? 'one commit' : `${again.commitsBehind} commits`;
  return `${file}-wal is damaged at byte ${again.offset}; ${commits} from there on cannot be seen`;
}

function damageIn(file: string) {
  return readLog(readLogFile(`${file}-wal`), usualPageSize).damage;
}

const usualPageSize = 4096;
