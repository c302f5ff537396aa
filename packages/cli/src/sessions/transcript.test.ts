import { type SessionEvent, transcriptOf } from '@groundcrew/sdk';
import { expect, test } from 'vitest';
import { transcriptLines } from './transcript.js';

const event = (type: string, data: object, more: object = {}) =>
  ({ id: '', timestamp: '', parentId: null, type, data, ...more }) as SessionEvent; // all that a transcript reads

test('a call that begins again after a resume is listed once', () => {
  const begin = event('tool.execution_start', { toolCallId: 'c1', toolName: 'look', arguments: {} });
  const transcript = transcriptOf([
    event('user.message', { content: 'Look' }),
    begin,
    event('session.resume', { eventCount: 2, resumeTime: '' }),
    begin,
    event('tool.execution_complete', { toolCallId: 'c1', success: true }),
    event('assistant.message', { messageId: 'm', content: 'Seen.' }),
  ]);
  expect(transcriptLines(transcript)).toEqual(['> Look', '› look', 'Seen.']);
});

test('what a sub-agent did stands below its call', () => {
  const started = { toolCallId: 't', agentName: 'a', agentDisplayName: 'A' };
  const transcript = transcriptOf([
    event('user.message', { content: 'Ask' }),
    event('tool.execution_start', { toolCallId: 't', toolName: 'task' }),
    event('subagent.started', started, { agentId: 'x' }),
    event('user.message', { content: 'One\nTwo' }, { agentId: 'x' }),
    event('tool.execution_start', { toolCallId: 'c', toolName: 'view' }, { agentId: 'x' }),
    event(
      'tool.execution_complete',
      { toolCallId: 'c', success: false, error: { message: 'no' } },
      { agentId: 'x' },
    ),
    event('tool.execution_complete', { toolCallId: 't', success: true }),
    event('assistant.message', { messageId: 'm', content: 'Done.' }),
  ]);
  expect(transcriptLines(transcript)).toEqual([
    '> Ask',
    '› task',
    '  » A (running)',
    '    > One\n    > Two',
    '    › view',
    '      failed: no',
    'Done.',
  ]);
});

test('agents stand in a tree, with their state, what they took and how long', () => {
  const names = { agentName: 'a', agentDisplayName: 'Outer' };
  const totals = { totalTokens: 20, durationMs: 1234 };
  const transcript = transcriptOf([
    event('tool.execution_start', { toolCallId: 't', toolName: 'task' }),
    event('subagent.started', { toolCallId: 't', ...names }, { agentId: 'x' }),
    event('tool.execution_start', { toolCallId: 't', toolName: 'task' }, { agentId: 'x' }),
    event(
      'subagent.started',
      { toolCallId: 't', parentToolCallId: 't', agentName: 'b', agentDisplayName: 'Inner' },
      { agentId: 'y' },
    ),
    event('assistant.message', { messageId: 'm', content: 'Inner words' }, { agentId: 'y' }),
    event(
      'subagent.failed',
      { toolCallId: 't', agentName: 'b', agentDisplayName: 'Inner', error: 'no', ...totals },
      { agentId: 'y' },
    ),
    event('subagent.completed', { toolCallId: 't', ...names, ...totals }, { agentId: 'x' }),
    event('subagent.started', { toolCallId: 'client-1', ...names }, { agentId: 'z' }),
  ]);
  expect(transcriptLines(transcript)).toEqual([
    '› task',
    '  » Outer (completed, 20 tokens, 1.2 s)',
    '    › task',
    '      » Inner (failed: no, 20 tokens, 1.2 s)',
    '        Inner words',
    '  » Outer (running)',
  ]);
});
