import type { Client, Session } from '@groundcrew/sdk';
import { type Config, readConfig } from '../config/config.js';
import { UsageError } from '../flags/arguments.js';
import type { Log } from '../log/log.js';
import type { Redactor } from '../log/redact.js';
import { openLocalClient } from '../sessions/local-client.js';
import { findSessionId, listOf, ownProvider } from '../sessions/session-choice.js';
import { StoredSessions } from '../sessions/stored-sessions.js';
import type { Terminal } from '../terminal/terminal.js';
import { openCommandLog } from './command-log.js';

/** The first word: the session that is meant. Throws UsageError. */
export function idIn([id]: readonly string[]): string {
  if (id === undefined)
    throw new UsageError('The id of a session is missing; groundcrew sessions ls lists them');
  return id;
}

export type CommonFlags = Pick<Parameters<typeof readConfig>[0], 'logLevel' | 'store' | 'model'>;

/** Works with a runtime of its own. */
export async function withClient(
  flags: CommonFlags,
  terminal: Terminal,
  work: (given: { readonly client: Client; readonly config: Config }) => Promise<number>,
): Promise<number> {
  const config = readConfig(flags, terminal.environment);
  const { log } = openCommandLog(config, terminal);
  const { client, close } = await openLocalClient(config, terminal, log);
  try {
    return await work({ client, config });
  } catch (error) {
    throw error instanceof Error ? plain(error) : error;
  } finally {
    await close();
    log.close();
  }
}

/** Users do not know the names of methods. */
export function plain(error: Error): Error {
  const message = error.message.replace(/^Request \S+ failed with message: /, '');
  return message === error.message ? error : new Error(message, { cause: error });
}

/** Opens the session that is meant, for as long as the work takes. What it has open is closed by that. */
export async function withSession(
  words: readonly string[],
  flags: CommonFlags,
  terminal: Terminal,
  work: (session: Session) => Promise<number>,
): Promise<number> {
  const wanted = idIn(words);
  return withClient(flags, terminal, async ({ client, config }) => {
    const sessionId = await findSessionId(wanted, listOf(client));
    const session = await client.resumeSession(sessionId, {
      disableResume: true,
      onPermissionRequest: () => ({ kind: 'reject' }),
      ...(config.model !== undefined && { model: config.model }),
      ...ownProvider(config, terminal.environment),
    });
    try {
      return await work(session);
    } finally {
      await session.disconnect();
    }
  });
}

/** Looks at the sessions of a home: nothing is opened, taken over or changed. */
export async function withStored<T>(
  flags: Pick<Parameters<typeof readConfig>[0], 'logLevel' | 'store'>,
  terminal: Terminal,
  work: (stored: StoredSessions, log: Log, redactor: Redactor) => Promise<T>,
): Promise<T> {
  const config = readConfig(flags, terminal.environment);
  const { log, redactor } = openCommandLog(config, terminal);
  const stored = await StoredSessions.open(config, terminal.environment, (message) =>
    log.write('warning', message),
  );
  try {
    return await work(stored, log, redactor);
  } finally {
    await stored.close();
    log.close();
  }
}

/** Throws an error for users where opening the session would close what it has open. */
export async function requireRest(
  words: readonly string[],
  flags: CommonFlags,
  terminal: Terminal,
): Promise<void> {
  const wanted = idIn(words);
  const found = await withStored(flags, terminal, async (stored) => {
    const sessions = await stored.list();
    const sessionId = await findSessionId(wanted, async () => sessions);
    return sessions.find((each) => each.sessionId === sessionId);
  });
  if (found?.isWorking && found.openIn === undefined) throw new WorkIsOpen(found.sessionId);
}

/** A turn was broken off, or questions and prompts wait. */
class WorkIsOpen extends Error {
  override readonly name = 'WorkIsOpen';

  constructor(sessionId: string) {
    super(
      `Session ${sessionId} was interrupted at its work, which this would close: go on with it first, as groundcrew --resume ${sessionId} does`,
    );
  }
}
