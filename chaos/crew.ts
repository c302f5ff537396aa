import type { AnyEvent, EventData } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';
import type { Rule } from '@groundcrew/testkit';
import { idOf } from './client.js';
import { effectsFile, type Line, next, shellCall, rule as soloRule } from './conversation.js';
import { type Lab, type Life, type LifeEnd, live } from './lab.js';
import { reopen } from './lives.js';
import { killInBothWays, type Tally } from './walk.js';

/** Five agents work for the root one, two of them begun by another, each caught at another step. */
const crew: Line = { name: 'work', prompt: 'Lead the crew', end: 'The crew is done.' };

const task = (name: string, mode: 'sync' | 'background') => ({
  id: `task-${name}`,
  name: 'task',
  arguments: { name, agent_type: 'general-purpose', description: name, prompt: `Be ${name}.`, mode },
});

/** By name, what an agent does before it says its last word. */
const deeds: Readonly<Record<string, readonly { id: string; name: string; arguments: object }[]>> = {
  Counter: [{ id: 'crew-1', name: 'count', arguments: { n: 1 } }],
  Payer: [{ id: 'crew-2', name: 'pay', arguments: { euros: 2 } }],
  Leader: [task('Nested', 'sync'), task('Runner', 'background')],
  Nested: [{ id: 'crew-3', name: 'pay', arguments: { euros: 3 } }],
  Runner: [
    {
      id: shellCall,
      name: 'bash',
      arguments: { command: `echo ran >> ${effectsFile}`, description: 'Runs' },
    },
  ],
};

/** The model of the crew: what it says depends only on who is asked and on how often it has spoken. */
export const rule: Rule = (messages, headers) => {
  const prompts = messages.flatMap(({ role, content }, index) =>
    role === 'user' && !JSON.stringify(content).includes('system_notification') ? [index] : [],
  );
  const last = prompts.at(-1) ?? 0;
  const text = JSON.stringify(messages[last]?.content);
  const said = messages.slice(last).filter(({ role }) => role === 'assistant').length;
  const name = Object.keys(deeds).find((each) => text.includes(`Be ${each}.`));
  if (name) return said === 0 ? { calls: [...(deeds[name] ?? [])] } : { chunks: [`${name} is done.`] };
  if (!text.includes(crew.prompt)) return soloRule(messages.slice(0, last + 1), headers);
  if (said > 0) return { chunks: [crew.end] };
  return { calls: [task('Counter', 'sync'), task('Payer', 'background'), task('Leader', 'sync')] };
};

function firstLife(lab: Lab, life: Life): Promise<LifeEnd> {
  return live(lab, life, async ([client]) => {
    for (const ledger of life.ledgers) {
      await client?.create(ledger);
      await client?.send(ledger, crew);
      await client?.untilIdle(ledger, [crew]);
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
      if (!ledger.acknowledged.includes(idOf(ledger, crew))) await client.send(ledger, crew);
      await client.send(ledger, next);
      await client.untilIdle(ledger, [next]);
    }
  });
}

/** Kills the runtime at write step k of a session whose agents are at work, and goes on in both ways; undefined when there was no such step. */
export function killCrewAtStep(lab: Lab, step: number): Promise<Tally | undefined> {
  return killInBothWays(lab, step, {
    name: 'crew',
    title: 'agents at work',
    firstLife,
    laterLife,
    faults: (records, { isContinued }) => crewFaults(records, { isWhole: isContinued }),
  });
}

/** Every agent began once and ended once; `isWhole`: all of them began, and were done in the end. */
function crewFaults(records: readonly LogRecord[], { isWhole }: { readonly isWhole: boolean }): string[] {
  const events = records.flatMap(({ isPublic, json }) => (isPublic ? [JSON.parse(json) as AnyEvent] : []));
  const started = events.filter(({ type }) => type === 'subagent.started');
  const calls = started.map(({ data }) => (data as EventData<'subagent.started'>).toolCallId);
  const expected = ['Counter', 'Payer', 'Leader', 'Nested', 'Runner'].map((name) => `task-${name}`);
  const missing = isWhole ? expected.filter((id) => !calls.includes(id)) : [];
  const faults = missing.map((id) => `the agent of ${id} was never begun`);
  faults.push(
    ...calls.filter((id, index) => calls.indexOf(id) !== index).map((id) => `a second agent of ${id}`),
  );
  for (const { agentId, data } of started) {
    const ends = events.filter(
      (event) => event.agentId === agentId && /^subagent\.(completed|failed)$/.test(event.type),
    );
    const how = ends.map(({ type }) => type).join(', ') || 'nothing';
    const isRight = ends.length === 1 && (!isWhole || ends[0]?.type === 'subagent.completed');
    if (!isRight)
      faults.push(`the agent of ${(data as { toolCallId: string }).toolCallId} ended with ${how}`);
  }
  const isDone = records.some(({ type, json }) => type === 'assistant.message' && json.includes(crew.end));
  if (isWhole && !isDone) faults.push('the crew was never done');
  return faults;
}
