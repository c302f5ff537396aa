import type { SessionEvent } from '@groundcrew/sdk';
import { expect, test } from 'vitest';
import { Recorder } from '../../test/streams.js';
import { Redactor } from '../log/redact.js';
import { Display } from './display.js';

function displayed(isTTY = false) {
  const output = new Recorder(isTTY);
  const errorOutput = new Recorder(isTTY);
  const display = new Display({ output, errorOutput, redactor: new Redactor('the-secret') });
  let count = 0;
  const show = (type: string, data: object, more: object = {}) => {
    const envelope = { id: String(count++), timestamp: '', parentId: null };
    display.show({ ...envelope, type, data, ...more } as SessionEvent); // the events a test needs, without the rest
  };
  return { output, errorOutput, display, show };
}

const delta = (messageId: string, deltaContent: string) => ({ messageId, deltaContent });

test('a terminal gets pieces as they come, and the whole is not written again', () => {
  const { output, show } = displayed(true);
  show('assistant.message_delta', delta('m1', 'one'));
  expect(output.text).toBe('one');
  show('assistant.message_delta', delta('m1', ' two'));
  show('assistant.message', { messageId: 'm1', content: 'one two' });
  show('assistant.message', { messageId: 'm2', content: 'not streamed\n' });
  show('assistant.message', { messageId: 'm3', content: '' });
  expect(output.text).toBe('one two\nnot streamed\n');
});

test('a pipe gets an answer when it is complete, and nothing of an attempt that broke off', () => {
  const { output, show } = displayed();
  show('assistant.message_delta', delta('m1', 'one'));
  show('assistant.message_delta', delta('m2', 'one'));
  show('assistant.message_delta', delta('m2', ' two'));
  expect(output.text).toBe('');
  show('assistant.message', { messageId: 'm2', content: 'one two' });
  expect(output.text).toBe('one two\n');
});

test('a pipe gets what there is of an answer that is not completed', () => {
  const { output, display, show } = displayed();
  show('assistant.message_delta', delta('m1', 'half an'));
  display.endLine();
  expect(output.text).toBe('half an\n');
});

test('an answer that breaks off and begins anew begins on a line of its own', () => {
  const { output, show } = displayed(true);
  show('assistant.message_delta', delta('m1', 'one'));
  show('assistant.message_delta', delta('m2', 'one two'));
  show('assistant.message', { messageId: 'm2', content: 'one two' });
  expect(output.text).toBe('one\none two\n');
});

test('what other agents say is not the answer, what they do is shown', () => {
  const { output, errorOutput, show } = displayed();
  show('assistant.message_delta', delta('m1', 'inner'), { agentId: 'a' });
  show('assistant.message', { messageId: 'm1', content: 'inner' }, { agentId: 'a' });
  show('tool.execution_start', { toolCallId: 'c', toolName: 'look' }, { agentId: 'a' });
  expect([output.text, errorOutput.text]).toEqual(['', '    › look\n']);
});

test('agents stand below those that began them, and say how they ended', () => {
  const { errorOutput, show } = displayed();
  const names = { agentName: 'a', agentDisplayName: 'Outer' };
  const inner = { toolCallId: 'u', agentName: 'b', agentDisplayName: 'Inner' };
  show('tool.execution_start', { toolCallId: 't', toolName: 'task' });
  show('subagent.started', { toolCallId: 't', ...names }, { agentId: 'x' });
  show('tool.execution_start', { toolCallId: 'u', toolName: 'task' }, { agentId: 'x' });
  show('subagent.started', { parentToolCallId: 'u', ...inner }, { agentId: 'y' });
  show('tool.execution_start', { toolCallId: 'v', toolName: 'look' }, { agentId: 'y' });
  show('subagent.completed', { ...inner, totalTokens: 10, durationMs: 500 }, { agentId: 'y' });
  show('subagent.completed', { toolCallId: 't', ...names, cancelled: true }, { agentId: 'x' });
  expect(errorOutput.text.trimEnd().split('\n')).toEqual([
    '› task',
    '  » Outer (running)',
    '    › task',
    '    » Inner (running)',
    '      › look',
    '    » Inner (completed, 10 tokens, 0.5 s)',
    '  » Outer (interrupted)',
  ]);
});

test('activity is lines without secrets or anything that steers a terminal', () => {
  const { errorOutput, show } = displayed();
  show('session.warning', { warningType: 'x', message: 'the-secret\u001b[2J\nis out' });
  show('session.info', { infoType: 'file_created', message: '/a' });
  show('session.info', { infoType: 'notification', message: 'hello' });
  show('tool.execution_start', { toolCallId: 'c', toolName: 'run', arguments: { text: 'x'.repeat(500) } });
  show('tool.execution_complete', { toolCallId: 'c', success: true });
  show('tool.execution_complete', { toolCallId: 'c', success: false, error: { message: 'no' } });
  expect(errorOutput.text.split('\n')).toEqual([
    'warning: [redacted]\\x1b[2J\\nis out',
    'file created: /a',
    'note: hello',
    `› run {"text":"${'x'.repeat(189)}…`,
    '  failed: no',
    '',
  ]);
});

test('on a terminal nothing of the answer steers it, and activity begins on a line of its own', () => {
  const { output, show } = displayed(true);
  show('assistant.message_delta', delta('m1', 'a\u001b]0;title\u0007b\tc'));
  show('session.warning', { warningType: 'x', message: 'careful' });
  show('assistant.message_delta', delta('m1', 'd'));
  expect(output.text).toBe('a]0;titleb\tc\nd');
});
