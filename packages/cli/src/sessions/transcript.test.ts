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
    '  > One\n  > Two',
    '  › view',
    '    failed: no',
    'Done.',
  ]);
});
