import { expect, test } from 'vitest';
import { eventFor, eventForProtocol, eventForRecent } from './older-events.js';

test.each([
  ['session.model_change', { newModel: 'm', source: 'user' }, { newModel: 'm' }],
  [
    'tool.execution_complete',
    {
      toolCallId: 'c1',
      success: true,
      result: {
        content: 'hi',
        contents: [
          { type: 'shell_exit', shellId: '0', exitCode: 3, cwd: '/work', outputPreview: 'hi' },
          { type: 'text', text: 'x' },
        ],
      },
    },
    {
      toolCallId: 'c1',
      success: true,
      result: {
        content: 'hi',
        contents: [
          { type: 'terminal', text: 'hi', exitCode: 3, cwd: '/work' },
          { type: 'text', text: 'x' },
        ],
      },
    },
  ],
  [
    'session.shutdown',
    { modelMetrics: { m: { requests: { count: 2, cost: null }, usage: {} }, n: { requests: { cost: 3 } } } },
    { modelMetrics: { m: { requests: { count: 2, cost: 0 }, usage: {} }, n: { requests: { cost: 3 } } } },
  ],
  ['abort', { reason: 'subagent_cancelled' }, { reason: 'user_initiated' }],
  [
    'subagent.selected',
    { agentName: 'reader', tools: null },
    { agentName: 'reader', agentDisplayName: 'reader', tools: null },
  ],
  [
    'user.message',
    {
      content: 'x',
      attachments: [
        { type: 'blob', assetId: 'a' },
        { type: 'blob', data: '' },
      ],
    },
    { content: 'x', attachments: [{ type: 'blob', data: '' }] },
  ],
  ['user.message', { content: '"source" "shell_exit"' }, { content: '"source" "shell_exit"' }],
])('%s is sent to older clients as they know it', (type, data, expected) => {
  const event = { id: 'e', type, data };
  expect(JSON.parse(eventFor('old', { type, json: JSON.stringify(event) }) ?? '')).toEqual({
    ...event,
    data: expected,
  });
});

test('releases before 0.3.0 read what a compaction took under the names of then', () => {
  const type = 'session.compaction_complete';
  const data = { success: true, compactionTokensUsed: { inputTokens: 5, outputTokens: 3, model: 'm' } };
  expect(JSON.parse(eventFor('oldest', { type, json: JSON.stringify({ type, data }) }) ?? '')).toEqual({
    type,
    data: { success: true, compactionTokensUsed: { input: 5, output: 3, cachedInput: 0 } },
  });
});

test.each<[string, 'old' | 'oldest' | 1 | 2, boolean]>([
  ['session.permissions_changed', 'old', false],
  ['elicitation.completed', 'old', true],
  ['elicitation.completed', 'oldest', false],
  ['external_tool.requested', 'oldest', true],
  ['external_tool.requested', 2, false],
  ['permission.completed', 2, false],
  ['session.title_changed', 2, true],
  ['session.title_changed', 1, false],
  ['assistant.message', 1, true],
])('%s reaches a client of %s: %s', (type, client, isSent) => {
  const event = { type, json: JSON.stringify({ type, data: {} }) };
  const json = typeof client === 'number' ? eventForProtocol(client, event) : eventFor(client, event);
  expect(json !== undefined).toBe(isSent);
});

test('protocol 2 knows files and directories, and the first releases a session without a context', () => {
  const attached = { content: 'x', attachments: [{ type: 'file', path: 'a' }, { type: 'selection' }] };
  const read = (protocol: 1 | 2, type: string, data: object) =>
    JSON.parse(eventForProtocol(protocol, { type, json: JSON.stringify({ type, data }) }) ?? '').data;
  expect(read(2, 'user.message', attached)).toEqual({
    content: 'x',
    attachments: [{ type: 'file', path: 'a' }],
  });
  const started = { sessionId: 's', context: { cwd: '/work' } };
  expect(read(2, 'session.start', started)).toEqual(started);
  expect(read(1, 'session.start', started)).toEqual({ sessionId: 's' });
});

test('a release that may not know how a command ended reads it as every release does, and loses nothing', () => {
  const exit = { type: 'shell_exit', shellId: '0', exitCode: 3, cwd: '/work', outputPreview: 'hi' };
  const shown = (contents: readonly object[]) => ({
    type: 'tool.execution_complete',
    json: JSON.stringify({ type: 'tool.execution_complete', data: { result: { contents } } }),
  });
  expect(JSON.parse(eventForRecent(shown([exit, { type: 'text', text: 'x' }]))).data.result.contents).toEqual(
    [
      { type: 'terminal', text: 'hi', shellId: '0', exitCode: 3, cwd: '/work', outputPreview: 'hi' },
      { type: 'text', text: 'x' },
    ],
  );
  expect(eventForRecent(shown([]))).toBe(shown([]).json);
});
