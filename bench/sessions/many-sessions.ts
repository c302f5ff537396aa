import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { approveAll } from '@groundcrew/sdk';
import type { LogRecord, SessionHead } from '@groundcrew/store';
import { openSqliteStore } from '@groundcrew/store-sqlite';
import { type Place, withRuntime } from './home.js';

/** Words that sessions are about; each session has a code word that no other has. */
const subjects = ['harbour', 'bakery', 'orchard', 'railway', 'library', 'quarry', 'vineyard', 'lighthouse'];

/** The word that only one of the sessions has. */
export function codeWord(number: number): string {
  return `kz${(number * 7919 + 104_729).toString(36)}`;
}

/** The branch that a session says it is on: one of a hundred. */
export function branchOf(number: number): string {
  return `feature-${number % 100}`;
}

/**
 * Fills a home with sessions: one is played by the runtime, the others have its records in words of their own. Their
 * files beside the store are not made.
 */
export async function makeManySessions({ home, model }: Place, count: number): Promise<void> {
  await multiplySession({ home, template: await playTemplate({ home, model }), count });
}

/** Puts many sessions in the place of one that no process has open: its words SUBJECT and CODEWORD become words of each. */
export async function multiplySession({
  home,
  template,
  count,
}: {
  readonly home: string;
  readonly template: string;
  readonly count: number;
}): Promise<void> {
  const store = openSqliteStore({ file: join(home, 'groundcrew.db'), runDirectory: join(home, 'run') });
  const owner = { runtimeId: randomUUID(), pid: process.pid, host: 'bench' };
  const records: LogRecord[] = [];
  for await (const batch of store.read(template)) records.push(...batch);
  const [source] = (await store.list({ sessionId: template, includeEmpty: true })).items;
  if (!source) throw new Error('The session that was played is not there');
  await store.remove(template);
  await store.erased();
  for (let first = 0; first < count; first += 200) {
    const some = Array.from({ length: Math.min(200, count - first) }, (_, index) => first + index);
    await Promise.all(
      some.map(async (number) => {
        const sessionId = `${template.slice(0, 8)}-${String(number).padStart(6, '0')}`;
        const reword = (text: string) =>
          text
            .replaceAll(template, sessionId)
            .replaceAll('SUBJECT', subjects[number % subjects.length] ?? '')
            .replaceAll('CODEWORD', codeWord(number));
        const head = JSON.parse(reword(JSON.stringify(source.head))) as SessionHead; // as it was
        const context = { ...head.context, repository: `team/repo-${number % 10}`, branch: branchOf(number) };
        const modifiedAt = new Date(Date.parse(head.modifiedAt) - number * 60_000).toISOString();
        const create = {
          records: records.map((record) => ({ ...record, json: reword(record.json) })),
          head: { ...head, context, modifiedAt },
        };
        const { epoch } = await store.claim({ sessionId, owner, create });
        await store.release({ sessionId, epoch });
      }),
    );
  }
  await store.close();
}

async function playTemplate({ home, model }: Place): Promise<string> {
  return withRuntime(home, async ({ client }) => {
    const session = await client.createSession({
      ...model.settings,
      onPermissionRequest: approveAll,
      infiniteSessions: { enabled: false },
    });
    await session.sendAndWait('Plan the SUBJECT of CODEWORD, and tell me what it needs first.');
    await session.sendAndWait('And what would the neighbours of the SUBJECT say about it? '.repeat(4));
    await session.sendAndWait('Write it down in three sentences.');
    return session.sessionId;
  });
}
