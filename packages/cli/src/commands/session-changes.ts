import { resolve } from 'node:path';
import { configFlags } from '../config/config.js';
import { bytesOf, daysOf } from '../config/retention.js';
import { UsageError } from '../flags/arguments.js';
import { type Flag, numberFlag, switchFlag, textFlag } from '../flags/flags.js';
import { findSessionId, listOf } from '../sessions/session-choice.js';
import { type ListedSession, sessionRows } from '../sessions/session-rows.js';
import { withProgress } from '../terminal/progress.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { shortened, visible } from '../terminal/visible.js';
import { type Command, defineCommand, show } from './command.js';
import { rewind } from './session-rewind.js';
import { type CommonFlags, idIn, plain, requireRest, withClient, withSession } from './with-session.js';

const { logLevel, store, model } = configFlags;
const dryRun = switchFlag('--dry-run', 'say what would happen, and change nothing');

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
          terminal.errorOutput.write(
            `groundcrew: ${error instanceof Error ? plain(error).message : error}\n`,
          );
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
      help: 'at most so many; default: 20',
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
  run: async ({ flags, words }, terminal) => {
    await requireRest(words, flags, terminal);
    return withSession(words, flags, terminal, async (session) => {
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
    });
  },
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

const importOne = defineCommand({
  usage: ['groundcrew sessions import PATH [--as ID]'],
  summary: 'Reads a session of a directory with events.jsonl, as other tools keep them, or of such a file',
  flags: {
    as: textFlag('--as', 'ID', 'the id under which it is kept; default: its own'),
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
