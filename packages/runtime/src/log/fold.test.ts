import type { SessionEvent } from '@groundcrew/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { entryOf, noteJson } from './entry.js';
import { type Entry, hasWork, reduce } from './fold.js';
import { headOf } from './head.js';
import type { NoteDraft } from './notes.js';
import { stateOfSnapshot } from './snapshot.js';
import { agentOf, initialState, type SessionState } from './state.js';

/** A record before it has a place in the log. */
type Written = { readonly event: SessionEvent } | NoteDraft;

const agents = [undefined, 'one', 'two', 'three'] as const;
const ids = fc.constantFrom('a', 'b', 'c');

function event(type: string, data: object): fc.Arbitrary<(agentId?: string) => Written> {
  return fc.uuid().map((id) => (agentId) => {
    const owner = agentId === undefined ? {} : { agentId };
    return { event: { type, data, id, timestamp: id, parentId: null, ...owner } as unknown as SessionEvent };
  });
}

function note(draft: NoteDraft): (agentId?: string) => Written {
  return (agentId) => (agentId === undefined ? draft : { ...draft, agentId });
}

const usage = {
  inputTokens: 3,
  outputTokens: 2,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** Anything an agent may write, in any order: also orders that no agent writes. */
const anyRecord = fc.oneof(
  ids.chain((content) => event('user.message', { content, messageId: content })),
  ids.chain((turnId) => event('assistant.turn_start', { turnId, interactionId: turnId })),
  ids.chain((turnId) => event('assistant.turn_end', { turnId })),
  ids.chain((id) =>
    event('assistant.message', {
      content: id,
      messageId: id,
      toolRequests: [{ toolCallId: id, name: 't', arguments: {} }],
    }),
  ),
  ids.chain((id) => event('tool.execution_start', { toolCallId: id, toolName: 't', arguments: {} })),
  ids.chain((id) =>
    event('tool.execution_complete', { toolCallId: id, success: true, result: { content: id } }),
  ),
  ids.chain((id) =>
    event('permission.requested', { requestId: id, permissionRequest: { kind: 'read', toolCallId: id } }),
  ),
  ids.chain((id) => event('permission.completed', { requestId: id, result: { kind: 'approved' } })),
  ids.chain((id) => event('external_tool.requested', { requestId: id, toolCallId: id, toolName: 't' })),
  ids.chain((id) => event('external_tool.completed', { requestId: id })),
  ids.chain((content) => event('system.message', { role: 'system', content })),
  ids.chain((content) => event('system.notification', { content })),
  event('abort', { reason: 'user_initiated' }),
  ids.map((id) => note({ note: 'call.intended', data: { toolCallId: id, attempt: 1 } })),
  ids.map((id) =>
    note({ note: 'call.answered', data: { toolCallId: id, result: { type: 'success', text: id } } }),
  ),
  ids.map((id) => note({ note: 'call.interrupted', data: { toolCallId: id } })),
  ids.map((id) => note({ note: 'verbatim', data: { id, text: `${id}!` } })),
  ids.map((id) => note({ note: 'question.asked', data: { requestId: id, toolCallId: id, question: id } })),
  fc.constant(note({ note: 'ask.reserved', data: { tokens: 1, cost: 0 } })),
  fc.constant(note({ note: 'ask.lost', data: { tokens: 1, cost: 0 } })),
  ids.map((model) =>
    note({ note: 'ask.settled', data: { model, usage, milliseconds: 1, cost: 1, estimatedInput: 3 } }),
  ),
);

const logs = fc.array(
  fc
    .tuple(fc.constantFrom(...agents), anyRecord)
    .map(([agentId, make]) => ({ agentId, written: make(agentId) })),
  { maxLength: 80 },
);

function fold(records: readonly Written[], from: SessionState = initialState): SessionState {
  return records.reduce((state, written) => reduce(state, { seq: state.seq + 1, ...written } as Entry), from);
}

test("each agent's state is what its own records add up to, however they are interleaved with those of others", () => {
  fc.assert(
    fc.property(logs, (log) => {
      const whole = fold(log.map(({ written }) => written));
      for (const agentId of agents) {
        const own = log.filter((each) => each.agentId === agentId).map(({ written }) => written);
        expect(agentOf(whole, agentId)).toEqual(agentOf(fold(own), agentId));
      }
    }),
    { seed: 14, numRuns: 400 },
  );
});

test('a snapshot in the middle changes nothing', () => {
  fc.assert(
    fc.property(logs, fc.nat(80), (log, at) => {
      const records = log.map(({ written }) => written);
      const middle = fold(records.slice(0, at));
      const stored = JSON.parse(JSON.stringify(middle)) as SessionState;
      const resumed = fold(records.slice(at), fold([{ note: 'snapshot', data: { state: stored } }]));
      expect(JSON.parse(JSON.stringify(resumed.agents))).toEqual(
        JSON.parse(JSON.stringify(fold(records).agents)),
      );
    }),
    { seed: 14, numRuns: 200 },
  );
});

test('a private record comes back from the store with its agent', () => {
  const draft: NoteDraft = { note: 'call.intended', data: { toolCallId: 'c', attempt: 1 }, agentId: 'one' };
  const record = { seq: 4, isPublic: false, type: draft.note, json: noteJson(draft) };
  expect(entryOf(record)).toEqual({ seq: 4, ...draft });
});

test("a child's end leaves its parent at work", () => {
  const event = (type: string, data: object, agentId?: string): Written => ({
    event: { type, data, id: type, timestamp: '', parentId: null, agentId } as unknown as SessionEvent,
  });
  const state = fold([
    event('assistant.turn_start', { turnId: '0' }),
    event('tool.execution_start', { toolCallId: 'task', toolName: 'task' }),
    event('assistant.turn_start', { turnId: '0' }, 'child'),
    event('assistant.turn_end', { turnId: '0' }, 'child'),
  ]);
  expect(agentOf(state, 'child').turn).toBeUndefined();
  expect(agentOf(state)).toMatchObject({ turn: { turnId: '0' }, calls: [{ toolCallId: 'task' }] });
  expect(hasWork(state)).toBe(true);
});

test("a snapshot of a version that knew one agent is the root's", () => {
  const history = [{ role: 'user', eventId: 'e', parts: [{ type: 'text', text: 'Hi' }] }] as const;
  const turn = { turnId: '3', interactionId: 'i', hasAnswer: true };
  const state = stateOfSnapshot({
    userTurns: 4,
    history,
    historySize: 2,
    systemPrompt: 's',
    turn,
    calls: [],
    questions: [],
  });
  expect(agentOf(state)).toMatchObject({ history, historySize: 2, systemPrompt: 's', turn });
  expect(state).not.toHaveProperty('history');
  expect(headOf(state)).toMatchObject({ userTurns: 4, hasWork: true });
});
