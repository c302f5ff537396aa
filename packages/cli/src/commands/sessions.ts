import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type SessionEvent, transcriptOf } from '@groundcrew/sdk';
import { configFlags } from '../config/config.js';
import { entryOf, UnknownOption, UsageError } from '../flags/arguments.js';
import { switchFlag, textFlag } from '../flags/flags.js';
import type { Redactor } from '../log/redact.js';
import { writeNewFile } from '../sessions/new-file.js';
import { findSessionId } from '../sessions/session-choice.js';
import { sessionTable } from '../sessions/session-table.js';
import { transcriptLines } from '../sessions/transcript.js';
import { withProgress } from '../terminal/progress.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { asksForHelp, type Command, defineCommand, show } from './command.js';
import { changes, exportDirectory } from './session-changes.js';
import { idIn, withStored } from './with-session.js';

const { logLevel, store } = configFlags;
const json = switchFlag('--json', 'print it as JSON');

const requestFlag = textFlag(
  '--request',
  'TURN',
  'print the body of the request of a turn as it was sent, secrets masked: 1 for the first model call, last, or the id of an event of it',
);

const ls = defineCommand({
  usage: ['groundcrew sessions ls [--json]'],
  summary: 'Lists the sessions, the newest first',
  flags: { json, store, logLevel },
  run: ({ flags }, terminal) =>
    withStored(flags, terminal, async (stored) => {
      const sessions = await stored.list();
      if (flags.json) return show(inJson(sessions), terminal);
      if (sessions.length === 0) return exitCodes.done;
      const hasTitles = terminal.output.isTTY === true;
      return show(sessionTable(sessions, { now: new Date(), hasTitles }).join('\n'), terminal);
    }),
});

const showOne = defineCommand({
  usage: ['groundcrew sessions show ID [--json]', 'groundcrew sessions show ID --request TURN'],
  summary: 'Shows what was said in a session, or the exact request of a turn',
  flags: { json, request: requestFlag, store, logLevel },
  mostWords: 1,
  run: ({ flags, words }, terminal) =>
    withStored(flags, terminal, async (stored, _log, redactor) => {
      const sessions = await stored.list();
      const sessionId = await findSessionId(idIn(words), async () => sessions);
      if (flags.request !== undefined)
        return showRequest(await stored.requestBody(sessionId, turnOf(flags.request)), redactor, terminal);
      const session = sessions.find((each) => each.sessionId === sessionId);
      const events: SessionEvent[] = [];
      for await (const line of stored.events(sessionId)) events.push(JSON.parse(line) as SessionEvent); // as we stored it
      if (flags.json) return show(inJson({ ...session, events }), terminal);
      const rows = sessionTable(session ? [session] : [], { now: new Date(), hasTitles: false });
      return show([...rows, ...transcriptLines(transcriptOf(events))].join('\n'), terminal);
    }),
});

const exportOne = defineCommand({
  usage: ['groundcrew sessions export ID [FILE]', 'groundcrew sessions export ID --to DIR'],
  summary:
    'Writes the events of a session as lines of JSON, to stdout or to a new file; or all of it as other tools keep sessions',
  flags: {
    to: textFlag('--to', 'DIR', 'make DIR/ID with events.jsonl, workspace.yaml, files, plan and checkpoints'),
    store,
    logLevel,
  },
  mostWords: 2,
  run: ({ flags, words }, terminal) => {
    const [, file] = words;
    if (flags.to !== undefined && file !== undefined)
      throw new UsageError('FILE and --to cannot go together');
    if (flags.to !== undefined) return exportDirectory(words, { ...flags, to: flags.to }, terminal);
    return withStored(flags, terminal, async (stored) => {
      const sessionId = await findSessionId(idIn(words), () => stored.list());
      const lines = Readable.from(ended(stored.events(sessionId)));
      return withProgress(terminal, 'writing the events', async () => {
        if (file !== undefined) return writeNewFile(file, lines, terminal);
        await pipeline(lines, terminal.output, { end: false });
        return exitCodes.done;
      });
    });
  },
});

const subcommands: Readonly<Record<string, Command>> = {
  ls,
  show: showOne,
  export: exportOne,
  ...changes,
};

/** `groundcrew sessions`: what is stored, to look at, take away or throw away. */
export const sessions: Command = {
  usage: ['groundcrew sessions ls|show|search|compact|fork|rewind|export|import|rm|prune'],
  summary: 'Lists, shows, finds, changes, takes away and removes sessions',
  help: () =>
    Object.values(subcommands)
      .map((each) => each.help())
      .join('\n'),
  start: async ([name, ...rest], terminal) => {
    const command = name === undefined ? undefined : entryOf(subcommands, name);
    if (command) return command.start(rest, terminal);
    if (name !== undefined && asksForHelp([name])) return show(sessions.help(), terminal);
    if (name?.startsWith('-')) throw new UnknownOption(name);
    throw new UsageError(
      `groundcrew sessions needs one of ${Object.keys(subcommands).join(', ')}${name === undefined ? '' : `, not ${name}`}`,
    );
  },
};

function turnOf(word: string): number | string {
  return /^\d+$/.test(word) ? Number(word) : word;
}

/** Nothing is added: what is written to a file are the bytes that were sent. */
function showRequest(body: Uint8Array, redactor: Redactor, terminal: Terminal): number {
  const text = Buffer.from(body).toString('utf8');
  const masked = redactor.text(text);
  if (masked !== text)
    terminal.errorOutput.write('groundcrew: secrets are masked: the bytes are others than those sent\n');
  terminal.output.write(masked);
  if (terminal.output.isTTY) terminal.output.write('\n');
  return exitCodes.done;
}

function inJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

async function* ended(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
