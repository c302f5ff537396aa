import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type SessionEvent, transcriptOf } from '@groundcrew/sdk';
import { configFlags, readConfig } from '../config/config.js';
import { entryOf, UsageError } from '../flags/arguments.js';
import { switchFlag, textFlag } from '../flags/flags.js';
import type { Log } from '../log/log.js';
import type { Redactor } from '../log/redact.js';
import { openLocalClient } from '../sessions/local-client.js';
import { findSessionId } from '../sessions/session-choice.js';
import { sessionRows } from '../sessions/session-rows.js';
import { StoredSessions } from '../sessions/stored-sessions.js';
import { transcriptLines } from '../sessions/transcript.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { asksForHelp, type Command, defineCommand, show } from './command.js';
import { openCommandLog } from './command-log.js';

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
    withSessions(flags, terminal, async (stored) => {
      const sessions = await stored.list();
      if (flags.json) return show(inJson(sessions), terminal);
      return sessions.length === 0 ? exitCodes.done : show(sessionRows(sessions).join('\n'), terminal);
    }),
});

const showOne = defineCommand({
  usage: ['groundcrew sessions show ID [--json]', 'groundcrew sessions show ID --request TURN'],
  summary: 'Shows what was said in a session, or the exact request of a turn',
  flags: { json, request: requestFlag, store, logLevel },
  mostWords: 1,
  run: ({ flags, words }, terminal) =>
    withSessions(flags, terminal, async (stored, _log, redactor) => {
      const sessions = await stored.list();
      const sessionId = await findSessionId(idIn(words), async () => sessions);
      if (flags.request !== undefined)
        return showRequest(await stored.requestBody(sessionId, turnOf(flags.request)), redactor, terminal);
      const session = sessions.find((each) => each.sessionId === sessionId);
      const events: SessionEvent[] = [];
      for await (const line of stored.events(sessionId)) events.push(JSON.parse(line) as SessionEvent); // as we stored it
      if (flags.json) return show(inJson({ ...session, events }), terminal);
      const rows = sessionRows(session ? [session] : []);
      return show([...rows, ...transcriptLines(transcriptOf(events))].join('\n'), terminal);
    }),
});

const exportOne = defineCommand({
  usage: ['groundcrew sessions export ID [FILE]'],
  summary: 'Writes the events of a session as lines of JSON, to stdout or to a new file',
  flags: { store, logLevel },
  mostWords: 2,
  run: ({ flags, words }, terminal) =>
    withSessions(flags, terminal, async (stored) => {
      const sessionId = await findSessionId(idIn(words), () => stored.list());
      const [, file] = words;
      const lines = Readable.from(ended(stored.events(sessionId)));
      if (file === undefined) await pipeline(lines, terminal.output, { end: false });
      else await pipeline(lines, createWriteStream(file, { flags: 'wx', mode: 0o600 }));
      return exitCodes.done;
    }),
});

const rm = defineCommand({
  usage: ['groundcrew sessions rm ID…'],
  summary: 'Removes sessions and all that belongs to them',
  flags: { store, logLevel },
  mostWords: Number.POSITIVE_INFINITY,
  run: async ({ flags, words }, terminal) => {
    idIn(words);
    const config = readConfig(flags, terminal.environment);
    const { log } = openCommandLog(config, terminal);
    const { client, close } = await openLocalClient(config, terminal, log);
    let code: number = exitCodes.done;
    try {
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
    } finally {
      await close();
      log.close();
    }
  },
});

const subcommands: Readonly<Record<string, Command>> = { ls, show: showOne, export: exportOne, rm };

/** `groundcrew sessions`: what is stored, to look at, take away or throw away. */
export const sessions: Command = {
  usage: ['groundcrew sessions ls|show|export|rm'],
  summary: 'Lists, shows, exports and removes sessions',
  help: () =>
    Object.values(subcommands)
      .map((each) => each.help())
      .join('\n'),
  start: async ([name, ...rest], terminal) => {
    const command = name === undefined ? undefined : entryOf(subcommands, name);
    if (command) return command.start(rest, terminal);
    if (name !== undefined && asksForHelp([name])) return show(sessions.help(), terminal);
    throw new UsageError(
      `groundcrew sessions needs one of ${Object.keys(subcommands).join(', ')}${name === undefined ? '' : `, not ${name}`}`,
    );
  },
};

async function withSessions(
  flags: Pick<Parameters<typeof readConfig>[0], 'logLevel' | 'store'>,
  terminal: Terminal,
  work: (stored: StoredSessions, log: Log, redactor: Redactor) => Promise<number>,
): Promise<number> {
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

function idIn([id]: readonly string[]): string {
  if (id === undefined)
    throw new UsageError('The id of a session is missing; groundcrew sessions ls lists them');
  return id;
}

function inJson(value: unknown): string {
  return JSON.stringify(value, undefined, 2);
}

async function* ended(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const line of lines) yield `${line}\n`;
}
