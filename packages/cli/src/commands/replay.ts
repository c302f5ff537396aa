import type { SessionEvent } from '@groundcrew/sdk';
import { configFlags, readConfig } from '../config/config.js';
import { UsageError } from '../flags/arguments.js';
import { numberFlag, switchFlag } from '../flags/flags.js';
import type { Difference } from '../replay/event-comparison.js';
import { type Recording, readRecording } from '../replay/recording.js';
import { type ReplayResult, replaySession } from '../replay/replay.js';
import { findSessionId } from '../sessions/session-choice.js';
import { StoredSessions } from '../sessions/stored-sessions.js';
import { Stopping } from '../terminal/stopping.js';
import { exitCodes, type Terminal } from '../terminal/terminal.js';
import { visible } from '../terminal/visible.js';
import { defineCommand, show } from './command.js';
import { openCommandLog } from './command-log.js';

const longestPatience = 3600;

/** `groundcrew replay`: a stored session once more, offline, to see whether it still goes the same way. */
export const replay = defineCommand({
  usage: ['groundcrew replay ID|last [--json] [--timeout S]'],
  summary: 'Runs a stored session again offline and reports the first event that differs',
  flags: {
    json: switchFlag('--json', 'print the result as JSON'),
    timeout: numberFlag({
      name: '--timeout',
      placeholder: 'S',
      help: 'give up after so many seconds without an event; default: 10',
      most: longestPatience,
    }),
    store: configFlags.store,
    logLevel: configFlags.logLevel,
  },
  notes: `Prompts are sent again; model answers, tool results and decisions are those that were recorded, so nothing is asked,
run or changed. Ids and times may differ, and so may system prompts.
Exit codes: 0 the same, 1 different, 2 wrong usage or no such session.`,
  mostWords: 1,
  run: async ({ flags, words: [wanted] }, terminal) => {
    if (wanted === undefined)
      throw new UsageError('The id of a session is missing; groundcrew sessions ls lists them');
    const { sessionId, events } = await storedEvents(wanted, flags, terminal);
    const recording = readRecording(events);
    const patience = (flags.timeout ?? 10) * 1000;
    const stopping = new Stopping(terminal, undefined);
    const { signal } = stopping;
    const result = await replaySession(recording, { version: terminal.version, patience }, signal);
    stopping.end();
    if (signal.aborted) return stopping.exitCode;
    show(flags.json ? inJson(sessionId, recording, result) : inWords(sessionId, recording, result), terminal);
    return result.difference ? exitCodes.failed : exitCodes.done;
  },
});

async function storedEvents(
  wanted: string,
  flags: Parameters<typeof readConfig>[0],
  terminal: Terminal,
): Promise<{ readonly sessionId: string; readonly events: readonly SessionEvent[] }> {
  const config = readConfig(flags, terminal.environment);
  const { log } = openCommandLog(config, terminal);
  const stored = await StoredSessions.open(config, terminal.environment, (message) =>
    log.write('warning', message),
  );
  try {
    const sessionId = await findSessionId(wanted, () => stored.list()).catch((error: Error) => {
      throw new UsageError(error.message, { cause: error });
    });
    const events: SessionEvent[] = [];
    for await (const line of stored.events(sessionId)) events.push(JSON.parse(line) as SessionEvent); // as we stored it
    return { sessionId, events };
  } finally {
    await stored.close();
    log.close();
  }
}

function inJson(sessionId: string, { events, cut }: Recording, { agreed, difference }: ReplayResult): string {
  const result = {
    sessionId,
    isSame: difference === undefined,
    recorded: events.length,
    agreed,
    cut,
    difference,
  };
  return JSON.stringify(result, undefined, 2);
}

function inWords(
  sessionId: string,
  { events, cut }: Recording,
  { agreed, difference }: ReplayResult,
): string {
  const rest = cut === undefined ? [] : [`The rest cannot be repeated: it begins with ${cut}.`];
  if (!difference) return [`${sessionId}: all ${agreed} events are the same.`, ...rest].join('\n');
  const place = `${sessionId}: event ${difference.number} of ${events.length} differs`;
  return [`${place}${inField(difference)}.`, ...linesOf(difference), ...rest].join('\n');
}

function inField({ field }: Difference): string {
  return field === undefined || field === 'type' ? '' : ` in ${field}`;
}

function linesOf({ recorded, replayed, field }: Difference): readonly string[] {
  const line = (mark: string, event: Difference['recorded']) =>
    event ? `${mark} ${event.type} ${visible(JSON.stringify(valueAt(event, field)))}` : `${mark} nothing`;
  return [line('-', recorded), line('+', replayed)];
}

function valueAt(event: object, field: string | undefined): unknown {
  const names = field === undefined || field === 'type' ? ['data'] : field.split('.');
  return names.reduce<unknown>(
    (value, name) => (typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined),
    event,
  );
}
