import type { SessionEvent } from '@groundcrew/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { emptyTranscript, foldTranscript, storedPart, transcriptOf, waitsOf } from './transcript.js';

let number = 0;
const event = (type: string, data: object, more: object = {}) => {
  number += 1;
  // All that a fold reads of an event.
  return { id: `e${number}`, timestamp: '', parentId: null, type, data, ...more } as SessionEvent;
};
const live = (type: string, data: object, more: object = {}) =>
  event(type, data, { ephemeral: true, ...more });

test('a turn with a tool is a prompt, a call with its output, and an answer', () => {
  const transcript = transcriptOf([
    event('session.start', { sessionId: 's', selectedModel: 'm' }),
    event('user.message', { content: 'Look', messageId: 'p' }),
    event('assistant.turn_start', { turnId: '0' }),
    event('assistant.message', { messageId: 'a', content: '', reasoningText: 'Hm.' }),
    event('tool.execution_start', { toolCallId: 'c', toolName: 'view', arguments: { path: 'x' } }),
    event('tool.execution_complete', { toolCallId: 'c', success: true, result: { content: 'text' } }),
    event('assistant.turn_end', { turnId: '0' }),
    live('assistant.usage', { model: 'm', inputTokens: 10, outputTokens: 2, cost: 0.5 }),
    live('session.title_changed', { title: 'Looking' }),
    live('session.todos_changed', {}),
    live('session.idle', {}),
  ]);
  expect(transcript).toEqual({
    main: {
      state: 'running',
      isTurnOpen: false,
      items: [
        { type: 'prompt', id: 'p', text: 'Look', attachments: [] },
        { type: 'message', id: 'a', text: '', reasoning: 'Hm.' },
        {
          type: 'tool',
          id: 'c',
          name: 'view',
          arguments: { path: 'x' },
          state: 'succeeded',
          isUserRequested: false,
          output: 'text',
        },
      ],
    },
    agents: [],
    questions: [],
    usage: { calls: 1, inputTokens: 10, outputTokens: 2, cost: 0.5 },
    title: 'Looking',
    model: 'm',
    todoRevision: 1,
    isIdle: true,
  });
});

test('pieces of an answer are shown until it is whole, and those of a broken attempt are not', () => {
  const pieces = [
    event('user.message', { content: 'Hi' }),
    live('assistant.reasoning_delta', { reasoningId: 'r', deltaContent: 'Think' }),
    live('assistant.message_delta', { messageId: 'a', deltaContent: 'Hel' }),
    live('model.call_failure', { source: 'top_level', errorMessage: 'reset' }),
    live('assistant.message_delta', { messageId: 'b', deltaContent: 'Hello' }),
  ];
  expect(transcriptOf(pieces.slice(0, 3)).main.streaming).toEqual({
    id: 'a',
    text: 'Hel',
    reasoning: 'Think',
  });
  expect(transcriptOf(pieces.slice(0, 4)).main.retry).toBe('reset');
  expect(transcriptOf(pieces).main.streaming).toEqual({ id: 'b', text: 'Hello', reasoning: '' });
  const whole = transcriptOf([...pieces, event('assistant.message', { messageId: 'b', content: 'Hello.' })]);
  expect(whole.main.streaming).toBeUndefined();
  expect(whole.main.items.at(-1)).toEqual({ type: 'message', id: 'b', text: 'Hello.' });
});

test('a wait is for the model, for tools that run, or for the questions that are open', () => {
  let transcript = emptyTranscript;
  const waits = (next: SessionEvent) => {
    transcript = foldTranscript(transcript, next);
    return waitsOf(transcript);
  };
  const request = { requestId: 'q', permissionRequest: { kind: 'shell', toolCallId: 'c' } };
  expect(waits(event('user.message', { content: 'Go' }))).toEqual([{ type: 'model' }]);
  expect(waits(live('assistant.message_delta', { messageId: 'a', deltaContent: 'x' }))).toEqual([]);
  expect(waits(event('assistant.message', { messageId: 'a', content: 'x' }))).toEqual([{ type: 'model' }]);
  expect(waits(event('tool.execution_start', { toolCallId: 'c', toolName: 'bash' }))).toEqual([
    { type: 'tool', toolCallId: 'c', name: 'bash' },
  ]);
  expect(waits(event('permission.requested', request))).toEqual([{ type: 'question', requestId: 'q' }]);
  expect(transcript.questions.map(({ toolCallId }) => toolCallId)).toEqual(['c']);
  expect(waits(event('permission.completed', { requestId: 'q' }))).toEqual([
    { type: 'tool', toolCallId: 'c', name: 'bash' },
  ]);
  expect(waits(event('tool.execution_complete', { toolCallId: 'c', success: true }))).toEqual([
    { type: 'model' },
  ]);
  expect(waits(live('session.idle', {}))).toEqual([]);
});

test('output so far and progress are shown while a tool runs; an abort interrupts it and voids its question', () => {
  const events = [
    event('tool.execution_start', { toolCallId: 'c', toolName: 'bash' }),
    live('tool.execution_partial_result', { toolCallId: 'c', partialOutput: 'one' }),
    live('tool.execution_progress', { toolCallId: 'c', progressMessage: 'half' }),
    live('user_input.requested', { requestId: 'q', toolCallId: 'c', question: '?' }),
  ];
  const running = transcriptOf(events);
  expect(running.main.items).toMatchObject([{ state: 'running', output: 'one', progress: 'half' }]);
  expect(running.questions).toHaveLength(1);
  const aborted = foldTranscript(running, event('abort', { reason: 'user_initiated' }));
  expect(aborted.main.items).toMatchObject([{ state: 'interrupted' }]);
  expect(aborted.questions).toEqual([]);
});

test('sub-agents are a tree: by their ids, and in older logs by the call that started them', () => {
  const transcript = transcriptOf([
    event('tool.execution_start', { toolCallId: 't', toolName: 'task' }),
    event('subagent.started', { toolCallId: 't', agentName: 'a', agentDisplayName: 'A' }, { agentId: '1' }),
    event('user.message', { content: 'Do it', source: 'agent-s' }, { agentId: '1' }),
    event(
      'tool.execution_start',
      { toolCallId: 'u', toolName: 'task', parentToolCallId: 't' },
      { agentId: '1' },
    ),
    event('subagent.started', { toolCallId: 'u', agentName: 'b', agentDisplayName: 'B' }),
    event('assistant.message', { messageId: 'm', content: 'Deep', parentToolCallId: 'u' }),
    event('subagent.failed', { toolCallId: 'u', agentName: 'b', agentDisplayName: 'B', error: 'no' }),
    event('subagent.completed', { toolCallId: 't', agentName: 'a', agentDisplayName: 'A' }, { agentId: '1' }),
  ]);
  const shown = transcript.agents.map(({ id, parentId, toolCallId, state, error, items }) => ({
    id,
    parentId,
    toolCallId,
    state,
    error,
    items: items.map(({ type, id: item }) => `${type} ${item}`),
  }));
  expect(shown).toEqual([
    {
      id: '1',
      parentId: undefined,
      toolCallId: 't',
      state: 'completed',
      error: undefined,
      items: [expect.stringMatching(/^prompt e/), 'tool u'],
    },
    { id: 'u', parentId: '1', toolCallId: 'u', state: 'failed', error: 'no', items: ['message m'] },
  ]);
  expect(transcript.main.items.map(({ id }) => id)).toEqual(['t']);
});

const agent = fc.constantFrom(undefined, 'x', 'y');
const call = fc.constantFrom('c1', 'c2', '__proto__');
const text = fc.constantFrom('', 'one', 'two');
const inAgent = (data: fc.Arbitrary<object>, type: string) =>
  fc.record({ type: fc.constant(type), data, agentId: agent });

const stored = fc.oneof(
  inAgent(fc.record({ content: text, delivery: fc.constantFrom('idle', 'steering') }), 'user.message'),
  inAgent(fc.record({ turnId: fc.constant('0') }), 'assistant.turn_start'),
  inAgent(fc.record({ turnId: fc.constant('0') }), 'assistant.turn_end'),
  inAgent(fc.record({ messageId: call, content: text }), 'assistant.message'),
  inAgent(fc.record({ toolCallId: call, toolName: text }), 'tool.execution_start'),
  inAgent(
    fc.record({ toolCallId: call, success: fc.boolean(), result: fc.record({ content: text }) }),
    'tool.execution_complete',
  ),
  inAgent(fc.record({ toolCallId: call, agentName: text, agentDisplayName: text }), 'subagent.started'),
  inAgent(fc.record({ toolCallId: call, agentName: text, agentDisplayName: text }), 'subagent.completed'),
  inAgent(
    fc.record({ requestId: call, permissionRequest: fc.record({ toolCallId: call }) }),
    'permission.requested',
  ),
  inAgent(fc.record({ requestId: call }), 'permission.completed'),
  inAgent(fc.record({ reason: fc.constant('user_initiated') }), 'abort'),
  inAgent(fc.record({ warningType: text, message: text }), 'session.warning'),
  inAgent(fc.record({ newModel: text }), 'session.model_change'),
);

const passing = fc.oneof(
  inAgent(fc.record({ messageId: call, deltaContent: text }), 'assistant.message_delta'),
  inAgent(fc.record({ reasoningId: call, deltaContent: text }), 'assistant.reasoning_delta'),
  inAgent(fc.record({ toolCallId: call, partialOutput: text }), 'tool.execution_partial_result'),
  inAgent(fc.record({ toolCallId: call, progressMessage: text }), 'tool.execution_progress'),
  inAgent(fc.record({ requestId: fc.constant('own'), toolCallId: call }), 'user_input.requested'),
  inAgent(fc.record({ requestId: fc.constant('own') }), 'user_input.completed'),
  inAgent(fc.record({ errorMessage: text }), 'model.call_failure'),
  inAgent(fc.record({ model: text }), 'assistant.usage'),
  inAgent(fc.record({ infoType: text, message: text }), 'session.info'),
  inAgent(fc.constant({}), 'session.idle'),
  inAgent(fc.constant({}), 'session.todos_changed'),
  inAgent(fc.record({ title: text }), 'session.title_changed'),
);

test('a screen that replays the log shows what one shows that was there, but for what passes', () => {
  const known = new Set(['x', 'y']);
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          stored.map((each) => ({ ...each, ephemeral: undefined })),
          passing.map((each) => ({ ...each, ephemeral: true })),
        ),
        { maxLength: 60 },
      ),
      (drafts) => {
        // Each sub-agent is started before anything else happens in it, as in every log.
        const starts = [...known].map((agentId) =>
          event(
            'subagent.started',
            { toolCallId: `of ${agentId}`, agentName: '', agentDisplayName: '' },
            { agentId },
          ),
        );
        const events = [
          ...starts,
          ...drafts.map(({ type, data, agentId, ephemeral }) =>
            event(type, data, { ...(agentId && { agentId }), ...(ephemeral && { ephemeral }) }),
          ),
        ];
        const log = events.filter(({ ephemeral }) => !ephemeral);
        expect(storedPart(transcriptOf(events))).toEqual(storedPart(transcriptOf(log)));
      },
    ),
    { numRuns: 500 },
  );
});

test('a long session is folded in one go as it is event by event, and 100,000 entries take seconds', () => {
  const events = Array.from({ length: 4_000 }, (_, at) => {
    const call = `c${Math.floor(at / 7)}`;
    if (at % 7 === 0)
      return event('tool.execution_start', { toolCallId: call, toolName: 'view', arguments: {} });
    // Some calls end late, and some never.
    if (at % 7 === 5 && at % 3 > 0)
      return event('tool.execution_complete', {
        toolCallId: `c${Math.floor(at / 7) - (at % 5)}`,
        success: true,
      });
    if (at === 3_000) return event('abort', { reason: 'user' });
    return event('session.info', { infoType: 'x', message: `line ${at}` });
  });
  expect(transcriptOf(events)).toEqual(events.reduce(foldTranscript, emptyTranscript));
  const many = Array.from({ length: 100_000 }, (_, at) =>
    event('session.info', { infoType: 'x', message: `line ${at}` }),
  );
  const began = performance.now();
  expect(transcriptOf(many).main.items).toHaveLength(100_000);
  expect(performance.now() - began).toBeLessThan(10_000);
});
