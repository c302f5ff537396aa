import type { ServerFinding, ServerInspection } from '@groundcrew/store-postgres';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { show } from './command.js';

/** Looks at the sessions in PostgreSQL and at what the server promises; finishes deletions unless `isCheckOnly`. */
export async function examineServers(
  url: string,
  { isCheckOnly, terminal }: { readonly isCheckOnly: boolean; readonly terminal: Terminal },
): Promise<number> {
  const { inspectServers, openPostgresStore } = await import('@groundcrew/store-postgres');
  const first = await inspectServers(url);
  show(report(first), terminal);
  if (!isCheckOnly && first.findings.some(({ type }) => type === 'unfinished')) {
    const store = openPostgresStore({ url });
    try {
      await store.erased();
    } finally {
      await store.close();
    }
    show('Finished the deletions that were broken off.', terminal);
  }
  return first.findings.some(({ type }) => type === 'problem') ? exitCodes.failed : exitCodes.done;
}

function report({ name, findings, contents }: ServerInspection): string {
  const held = contents
    ? `${contents.sessions} sessions, ${contents.records} records, version ${contents.version}`
    : 'contents unknown';
  const problems = findings.filter(({ type }) => type === 'problem').length;
  const verdict =
    problems === 0 ? 'No problems found.' : `${problems} problem${problems === 1 ? '' : 's'} found.`;
  return [`${name}: ${held}`, ...findings.map(line), verdict].join('\n');
}

function line({ type, message }: ServerFinding): string {
  return `${type === 'unfinished' ? 'note' : type}: ${message}`;
}
