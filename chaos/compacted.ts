import type { AnyEvent } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';
import type { CompletionMessage, Rule } from '@groundcrew/testkit';
import { idOf } from './client.js';
import { next, rule as usualRule, work } from './conversation.js';
import { type Lab, type Life, type LifeEnd, live } from './lab.js';
import { reopen } from './lives.js';
import { killInBothWays, type Tally } from './walk.js';

const overview = '<overview>The work was done.</overview>';
const question = 'Please create a detailed summary';

/** The model of the conversation, which also summarises; what it is asked after a summary is kept in `seen`. */
export function summarisingRule(seen: string[]): Rule {
  return (messages, headers) => {
    const text = textOf(messages.at(-1));
    if (text.includes(question)) return { chunks: [overview] };
    if (text.includes(next.prompt)) seen.push(messages.map(textOf).join('\n'));
    return usualRule(messages, headers);
  };
}

function firstLife(lab: Lab, life: Life): Promise<LifeEnd> {
  return live(lab, life, async ([client]) => {
    for (const ledger of life.ledgers) {
      await client?.create(ledger);
      await client?.send(ledger, work);
      await client?.untilIdle(ledger, [work]);
      await client?.compact(ledger);
    }
  });
}

function laterLife(lab: Lab, life: Life, how: { readonly continuePendingWork: boolean }): Promise<LifeEnd> {
  return live(lab, life, async ([client]) => {
    for (const ledger of life.ledgers) {
      if (!client) return;
      ledger.lives += 1;
      await reopen(client, ledger, how);
      await client.answerOpen(ledger, { isAwaited: how.continuePendingWork });
      if (!ledger.acknowledged.includes(idOf(ledger, work))) await client.send(ledger, work);
      await client.send(ledger, next);
      await client.untilIdle(ledger, [next]);
      await client.compact(ledger);
    }
  });
}

/** Kills the runtime at write step k of a conversation that is compacted, and goes on in both ways; undefined when there was no such step. */
export function killCompactedAtStep(lab: Lab, step: number, seen: string[]): Promise<Tally | undefined> {
  seen.length = 0;
  return killInBothWays(lab, step, {
    name: 'compacted',
    title: 'compacted',
    firstLife,
    laterLife,
    faults: (records) => [
      ...compactionFaults(records),
      ...(seen.some((text) => !text.includes(work.prompt))
        ? ['the model was asked without what the user had said first']
        : []),
    ],
  });
}

/** Each compaction ended once, the last one well, and one that ended well has its summary in the same log. */
function compactionFaults(records: readonly LogRecord[]): string[] {
  const faults: string[] = [];
  const events = records.flatMap(({ isPublic, json }) => (isPublic ? [JSON.parse(json) as AnyEvent] : []));
  let isOpen = false;
  let done = 0;
  for (const { type, data } of events) {
    if (type === 'session.compaction_start') {
      if (isOpen) faults.push('a compaction began before another had ended');
      isOpen = true;
    }
    if (type !== 'session.compaction_complete') continue;
    if (!isOpen) faults.push('a compaction ended that had not begun');
    isOpen = false;
    if ((data as { readonly success: boolean }).success) done += 1;
  }
  if (isOpen) faults.push('a compaction never ended');
  const notes = records.filter(({ type }) => type === 'history.compacted').length;
  if (notes !== done) faults.push(`${done} compactions were published, ${notes} are in the log`);
  if (done === 0) faults.push('nothing was compacted');
  return faults;
}

function textOf(message: CompletionMessage | undefined): string {
  const { content } = message ?? {};
  return typeof content === 'string' ? content : JSON.stringify(content ?? '');
}
