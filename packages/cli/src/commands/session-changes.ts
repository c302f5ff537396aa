import { resolve } from 'node:path';
import type { Client, Session } from '@groundcrew/sdk';
import { type Config, configFlags, readConfig } from '../config/config.js';
import { bytesOf, daysOf } from '../config/retention.js';
import { UsageError } from '../flags/arguments.js';
import { type Flag, numberFlag, switchFlag, textFlag } from '../flags/flags.js';
import { openLocalClient } from '../sessions/local-client.js';
import { findSessionId, listOf, ownProvider } from '../sessions/session-choice.js';
import { type ListedSession, sessionRows } from '../sessions/session-rows.js';
import { withProgress } from '../terminal/progress.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { shortened, visible } from '../terminal/visible.js';
import { type Command, defineCommand, show } from './command.js';
import { openCommandLog } from './command-log.js';

const { logLevel, store, model } = configFlags;
const dryRun = switchFlag('--dry-run', 'say what would happen, and change nothing');

/** The first word: the session that is meant. Throws UsageError. */
export function idIn([id]: readonly string[]): string {
  if (id === undefined)
    throw new UsageError('The id of a session is missing; groundcrew sessions ls lists them');
  return id;
}

const rm = defineCommand({
  usage: ['groundcrew sessions rm ID…'],
  summary: 'Removes sessions and all that belongs to them',
  flags: { store, logLevel },
  mostWords: Number.POSITIVE_INFINITY,
  run: async ({ flags, words }, terminal) => {
    idIn(words);
    return withClient(flags, terminal, async ({ client }) => {
      let code: number = exitCodes.done;
      const sessions = await client.listSessions();
      for (const word of words) {
        try {
          const sessionId = await findSessionId(word, async () => sessions);
          await client.deleteSession(sessionId);
          show(sessionId, terminal);
        } catch (error) {
          terminal.errorOutput.write(`groundcrew: ${error instanceof Error ? error.message : error}\n`);
          code = exitCodes.failed;
        }
      }
      return code;
    });
  },
});

const search = defineCommand({
  usage: ['groundcrew sessions search WORDS… [--limit N] [--json]'],
  summary: 'Finds sessions by what was said and done in them, the best first',
  flags: {
    json: switchFlag('--json', 'print it as JSON'),
    limit: numberFlag({
      name: '--limit',
      placeholder: 'N',
      help: 'at most so many; 20 unless given',
      most: 1000,
    }),
    store,
    logLevel,
  },
  mostWords: Number.POSITIVE_INFINITY,
  run: async ({ flags, words }, terminal) => {
    if (words.length === 0) throw new UsageError('The words to search for are missing');
    return withClient(flags, terminal, async ({ client }) => {
      const { sessions } = await withProgress(terminal, 'searching', () =>
        client.call('sessions.search', { query: words.join(' '), limit: flags.limit ?? 20 }),
      );
      if (flags.json) return show(JSON.stringify(sessions, undefined, 2), terminal);
      const rows = sessionRows(sessions.map(listed));
      const lines = sessions.flatMap(({ passage }, index) => [
        rows[index] ?? '',
        `    ${shortened(visible(String(passage).replaceAll(/\s+/g, ' ')), 300)}`,
      ]);
      return lines.length === 0 ? exitCodes.failed : show(lines.join('\n'), terminal);
    });
  },
});

const compact = defineCommand({
  usage: ['groundcrew sessions compact ID [WISH]'],
  summary: 'Puts a summary in the place of the older messages that the model sees; the log keeps them',
  flags: { model, store, logLevel },
  mostWords: 2,
  run: async ({ flags, words }, terminal) =>
    withSession(words, flags, terminal, async (session) => {
      const [, customInstructions] = words;
      const wish = customInstructions === undefined ? {} : { customInstructions };
      const done = await withProgress(terminal, 'compacting', () =>
        session.call('session.history.compact', wish),
      );
      if (!done.success) {
        terminal.errorOutput.write('groundcrew: There was nothing to compact\n');
        return exitCodes.failed;
      }
      return show(
        `A summary replaced ${done.messagesRemoved} messages: ${done.tokensRemoved} tokens fewer`,
        terminal,
      );
    }),
});

const fork = defineCommand({
  usage: ['groundcrew sessions fork ID [EVENT] [--name NAME]'],
  summary: 'Makes a session that goes its own way from another one, up to an event, which is no part of it',
  flags: { name: textFlag('--name', 'NAME', 'what the new session is called'), store, logLevel },
  mostWords: 2,
  run: async ({ flags, words }, terminal) => {
    const wanted = idIn(words);
    return withClient(flags, terminal, async ({ client }) => {
      const sessionId = await findSessionId(wanted, listOf(client));
      const [, toEventId] = words;
      const made = await withProgress(terminal, 'copying', () =>
        client.call('sessions.fork', {
          sessionId,
          ...(toEventId !== undefined && { toEventId }),
          ...(flags.name !== undefined && { name: flags.name }),
        }),
      );
      return show(made.sessionId, terminal);
    });
  },
});

const rewind = defineCommand({
  usage: [
    'groundcrew sessions rewind ID',
    'groundcrew sessions rewind ID EVENT [--files] [--force] [--dry-run]',
  ],
  summary: 'Takes a session back to before a prompt; without one, lists the prompts',
  flags: {
    files: switchFlag('--files', 'also put back the files that tools of the session wrote'),
    force: switchFlag('--force', 'also those that others have changed since'),
    dryRun,
    store,
    logLevel,
  },
  mostWords: 2,
  run: async ({ flags, words }, terminal) => {
    const [, eventId] = words;
    if (flags.force && !flags.files) throw new UsageError('--force goes with --files');
    return withSession(words, flags, terminal, async (session) => {
      if (eventId === undefined) return listPoints(session, terminal);
      if (flags.dryRun) return preview(session, eventId, terminal);
      const mode = flags.files ? 'conversation-and-files' : 'conversation';
      const done = await withProgress(terminal, 'taking it back', () =>
        session.call('session.history.rewind', { eventId, mode, ...(flags.force && { force: true }) }),
      );
      for (const path of done.restoredFiles) show(`put back: ${visible(path)}`, terminal);
      for (const { path, reason } of done.skippedFiles)
        show(`left as it is (${reason}): ${visible(path)}`, terminal);
      if (done.outcome === 'success') return show(`${done.eventsRemoved ?? 0} events taken back`, terminal);
      terminal.errorOutput.write(`groundcrew: ${done.error ?? done.outcome}\n`);
      return exitCodes.failed;
    });
  },
});

const importOne = defineCommand({
  usage: ['groundcrew sessions import PATH [--as ID]'],
  summary: 'Reads a session of a directory with events.jsonl, as other tools keep them, or of such a file',
  flags: {
    as: textFlag('--as', 'ID', 'the id under which it is kept; its own unless given'),
    store,
    logLevel,
  },
  mostWords: 1,
  run: async ({ flags, words }, terminal) => {
    const [path] = words;
    if (path === undefined) throw new UsageError('The directory or file of the session is missing');
    return withClient(flags, terminal, async ({ client }) => {
      const imported = await withProgress(terminal, 'reading the events', () =>
        client.call('sessions.import', {
          path: resolve(terminal.workingDirectory, path),
          ...(flags.as !== undefined && { sessionId: flags.as }),
        }),
      );
      for (const warning of imported.warnings) terminal.errorOutput.write(`warning: ${warning}\n`);
      return show(`${imported.sessionId}: ${imported.events} events`, terminal);
    });
  },
});

/** `groundcrew prune`: deletes old sessions. */
export const prune = defineCommand({
  usage: ['groundcrew prune [--older-than 30d] [--keep N] [--max-size 2GB] [--dry-run]'],
  summary: 'Removes old sessions: by age, all but the newest, or the oldest that are too much together',
  flags: {
    olderThan: measureFlag('--older-than', 'TIME', 'those not used for so long: 30d, 12h, 2w', daysOf),
    keep: numberFlag({ name: '--keep', placeholder: 'N', help: 'all but the N newest', most: 1_000_000_000 }),
    maxSize: measureFlag(
      '--max-size',
      'SIZE',
      'the oldest, until the rest takes no more: 500MB, 2GB',
      bytesOf,
    ),
    includeNamed: switchFlag('--include-named', 'also those that were given a name'),
    dryRun,
    json: switchFlag('--json', 'print it as JSON'),
    store,
    logLevel,
  },
  notes: 'Sessions in use stay. The setting "retention" of config.json does the same by itself.',
  run: async ({ flags }, terminal) => {
    const bounds = {
      ...(flags.olderThan !== undefined && { olderThanDays: flags.olderThan }),
      ...(flags.keep !== undefined && { keepNewest: flags.keep }),
      ...(flags.maxSize !== undefined && { mostBytes: flags.maxSize }),
    };
    if (Object.keys(bounds).length === 0)
      throw new UsageError('groundcrew prune needs --older-than, --keep or --max-size');
    return withClient(flags, terminal, async ({ client }) => {
      const done = await withProgress(terminal, 'pruning', () =>
        client.call('sessions.pruneOld', {
          ...bounds,
          dryRun: flags.dryRun ?? false,
          includeNamed: flags.includeNamed ?? false,
        }),
      );
      if (flags.json) return show(JSON.stringify(done, undefined, 2), terminal);
      const gone = done.dryRun ? done.candidates : done.deleted;
      const what = done.dryRun ? 'would be removed' : 'removed';
      const size = `${(done.freedBytes / 1e6).toFixed(1)} MB`;
      const kept = done.skipped.length === 0 ? '' : `; ${done.skipped.length} named or in use stay`;
      return show([...gone, `${gone.length} sessions, ${size} ${what}${kept}`].join('\n'), terminal);
    });
  },
});

/** Writes a session into a directory of its id, in the layout of other tools. */
export function exportDirectory(
  words: readonly string[],
  flags: CommonFlags & { readonly to: string },
  terminal: Terminal,
): Promise<number> {
  const wanted = idIn(words);
  return withClient(flags, terminal, async ({ client }) => {
    const sessionId = await findSessionId(wanted, listOf(client));
    const path = resolve(terminal.workingDirectory, flags.to);
    const { directory } = await withProgress(terminal, 'writing the session', () =>
      client.call('sessions.export', { sessionId, path }),
    );
    return show(directory, terminal);
  });
}

/** What changes sessions. */
export const changes: Readonly<Record<string, Command>> = {
  search,
  compact,
  fork,
  rewind,
  import: importOne,
  rm,
  prune,
};

function listed({ sessionId, modifiedTime, summary }: Readonly<Record<string, unknown>>): ListedSession {
  return {
    sessionId: String(sessionId),
    modifiedTime: new Date(String(modifiedTime)),
    summary: typeof summary === 'string' ? summary : undefined,
  };
}

function measureFlag(
  name: string,
  placeholder: string,
  help: string,
  read: (value: string, name: string) => number,
): Flag<number> {
  return { names: [name], placeholder, help, read };
}

async function listPoints(session: Session, terminal: Terminal): Promise<number> {
  const { points } = await session.call('session.history.listRewindPoints', {});
  const lines = points.map(({ eventId, timestamp, userMessage, fileCount }) => {
    const files = fileCount === 0 ? '' : `  (${fileCount} files)`;
    return `${eventId}  ${timestamp.slice(0, 16).replace('T', ' ')}  ${shortened(visible(userMessage), 60)}${files}`;
  });
  return lines.length === 0 ? exitCodes.done : show(lines.join('\n'), terminal);
}

async function preview(session: Session, eventId: string, terminal: Terminal): Promise<number> {
  const { available, reason, files } = await session.call('session.history.previewRewind', { eventId });
  if (!available) return show(`no files can be put back: ${reason ?? 'unknown'}`, terminal);
  const lines = files.map(({ path, changeType, linesAdded, linesRemoved, changedSince }) => {
    const since = changedSince ? ', changed by others since' : '';
    return `${changeType}: ${visible(path)} (+${linesAdded} −${linesRemoved}${since})`;
  });
  return show(lines.length === 0 ? 'no files would be changed' : lines.join('\n'), terminal);
}

type CommonFlags = Pick<Parameters<typeof readConfig>[0], 'logLevel' | 'store' | 'model'>;

async function withClient(
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
function plain(error: Error): Error {
  const message = error.message.replace(/^Request \S+ failed with message: /, '');
  return message === error.message ? error : new Error(message, { cause: error });
}

/** Opens the session that is meant, for as long as the work takes. */
async function withSession(
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
