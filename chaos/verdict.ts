import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEvent, EventData } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';
import { examineEvents, story } from '@groundcrew/testkit';
import { workIn } from './client.js';
import { effectsFile, shellCall } from './conversation.js';
import { brief, type Ledger } from './ledger.js';

/** Where the log differs from what clients received. */
export function examineLog(ledger: Ledger, records: readonly LogRecord[]): readonly string[] {
  const found = records.filter((record) => record.isPublic).map((record) => record.json);
  const events = found.map((json) => JSON.parse(json) as AnyEvent);
  return [
    ...ledger.received.flatMap((run) => lostOf(run, found)),
    ...examineEvents(events),
    ...promptFaults(ledger, events),
    ...answerFaults(ledger, events),
    ...callFaults(events),
    ...intentFaults(records),
  ];
}

/** A command of the shell ran once if it says so, and never twice. */
export function examineEffects({
  home,
  sessionId,
  records,
}: {
  readonly home: string;
  readonly sessionId: string;
  readonly records: readonly LogRecord[];
}): readonly string[] {
  const file = join(workIn(home, sessionId), effectsFile);
  const effects = existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
  const receipts = records
    .filter(({ type, json }) => type === 'tool.execution_complete' && json.includes(shellCall))
    .map(({ json }) => (JSON.parse(json) as { data: EventData<'tool.execution_complete'> }).data.success);
  if (effects > 1) return [`the command ran ${effects} times`];
  return receipts.includes(true) && effects !== 1 ? ['the command did not run and is said to have'] : [];
}

/** What the log says, in a form that is the same however often the runtime was killed. */
export function durableStory(records: readonly LogRecord[]): readonly string[] {
  const events = records.flatMap((record) => (record.isPublic ? [JSON.parse(record.json) as AnyEvent] : []));
  const lines = story(events.filter((event) => !killedRunsOnly.has(event.type)));
  return lines
    .map((line) => line.replace(/ (idle|queued) 0$/, '').replace(/Saved to: \S+?\.txt/, 'Saved to: a file'))
    .map((line) => (line.startsWith(shellReceipt) ? shellReceipt : line))
    .filter((line, index, all) => !line.startsWith('tool.execution_start') || all.indexOf(line) === index)
    .sort();
}

/** What differs from another such story. */
export function storyFaults(story: readonly string[], expected: readonly string[]): readonly string[] {
  const cut = (line: string) => (line.length > 160 ? `${line.slice(0, 160)}…` : line);
  return [
    ...without(expected, story).map((line) => `never happened: ${cut(line)}`),
    ...without(story, expected).map((line) => `should not have happened: ${cut(line)}`),
  ];
}

function without(lines: readonly string[], others: readonly string[]): readonly string[] {
  const left = [...others];
  return lines.filter((line) => {
    const index = left.indexOf(line);
    if (index >= 0) left.splice(index, 1);
    return index < 0;
  });
}

/** Whatever it says: a command that was running when the runtime was killed is not run again. */
const shellReceipt = `tool.execution_complete ${shellCall}`;

const killedRunsOnly = new Set([
  'session.resume',
  'session.start',
  'session.model_change',
  'session.context_changed',
]);

/** An attached client receives every event: what it received is one unbroken run of the log, byte for byte. */
function lostOf(run: readonly string[], found: readonly string[]): readonly string[] {
  const start = found.indexOf(run[0] ?? '');
  const wrong = run.findIndex((json, index) => start < 0 || found[start + index] !== json);
  if (wrong < 0) return [];
  const instead = start < 0 ? undefined : found[start + wrong];
  return [
    `received (${wrong + 1} of ${run.length} in its run): ${brief(run[wrong] ?? 'null')}`,
    `  found there: ${instead === undefined ? 'nothing' : brief(instead)}`,
  ];
}

function promptFaults(ledger: Ledger, events: readonly AnyEvent[]): readonly string[] {
  const ids = events.flatMap((event) =>
    event.type === 'user.message' ? [(event.data as EventData<'user.message'>).messageId] : [],
  );
  const lost = ledger.acknowledged.filter((id) => !ids.includes(id));
  const repeated = ids.filter((id, index) => ids.indexOf(id) !== index);
  return [
    ...lost.map((id) => `the prompt ${id} was acknowledged and is not in the log`),
    ...repeated.map((id) => `the prompt ${id} is in the log twice`),
  ];
}

function answerFaults(ledger: Ledger, events: readonly AnyEvent[]): readonly string[] {
  const completed = events
    .filter(({ type }) => type === 'external_tool.completed' || type === 'permission.completed')
    .map((event) => (event.data as { requestId: string }).requestId);
  const lost = ledger.accepted.filter((id) => !completed.includes(id));
  const unanswerable = ledger.refused.filter((id) => !ledger.accepted.includes(id));
  const twice = completed.filter((id, index) => completed.indexOf(id) !== index);
  return [
    ...lost.map((id) => `the answer to ${id} was accepted and is not in the log`),
    ...unanswerable.map((id) => `the open question ${id} could not be answered after the restart`),
    ...twice.map((id) => `the question ${id} was completed twice`),
  ];
}

/** One question of a kind for each call, and one receipt. */
function callFaults(events: readonly AnyEvent[]): readonly string[] {
  const keys = events.flatMap((event) => {
    if (event.type === 'external_tool.requested' || event.type === 'tool.execution_complete')
      return [`${event.type} of ${(event.data as { toolCallId: string }).toolCallId}`];
    if (event.type !== 'permission.requested') return [];
    return [
      `${event.type} of ${(event.data as EventData<'permission.requested'>).permissionRequest.toolCallId}`,
    ];
  });
  return keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `a second ${key}`);
}

/** No client is asked to run a call before its intent is in the log. */
function intentFaults(records: readonly LogRecord[]): readonly string[] {
  const intended = new Set<string>();
  const faults: string[] = [];
  for (const { type, json } of records) {
    if (type !== 'call.intended' && type !== 'external_tool.requested') continue;
    const body = JSON.parse(json) as { toolCallId?: string; data?: { toolCallId: string } };
    if (type === 'call.intended') intended.add(body.toolCallId ?? '');
    else if (!intended.has(body.data?.toolCallId ?? ''))
      faults.push(`${body.data?.toolCallId} was asked for without a recorded intent`);
  }
  return faults;
}
