import type { SessionEvent } from '@groundcrew/protocol';
import { expect, test } from 'vitest';
import { TurnText } from './turn-text.js';

const event = (type: string, data: object, agentId?: string): SessionEvent =>
  ({ id: 'e', timestamp: 't', parentId: null, type, data, ...(agentId && { agentId }) }) as SessionEvent;
const prompt = (messageId: string, delivery = 'idle') =>
  event('user.message', { content: 'x', messageId, delivery });
const delta = (messageId: string, deltaContent: string) =>
  event('assistant.message_delta', { messageId, deltaContent });
const message = (messageId: string, content: string) => event('assistant.message', { messageId, content });

/** What is passed on after each event of a turn that has begun. */
function pieces(...events: readonly SessionEvent[]): readonly string[] {
  const text = new TurnText('p');
  text.receive(prompt('p'));
  return events.map((each) => text.receive(each));
}

test('pieces are passed on as they come, and the whole message adds nothing', () => {
  expect(pieces(delta('1', 'Hel'), delta('1', 'lo'), message('1', 'Hello'))).toEqual(['Hel', 'lo', '']);
});

test('a message without pieces is passed on whole, and each message begins on a line of its own', () => {
  expect(
    pieces(message('1', 'Let me look.'), message('2', ''), delta('3', 'A'), delta('3', ' tree')),
  ).toEqual(['Let me look.', '', '\nA', ' tree']);
  expect(pieces(message('1', 'A line.\n'), message('2', 'Another.'))).toEqual(['A line.\n', 'Another.']);
});

test('an attempt that repeats what a broken one said is passed on from where that ended', () => {
  expect(
    pieces(
      delta('1', 'Once upon'),
      delta('2', 'Once'),
      delta('2', ' upon a time'),
      message('2', 'Once upon a time'),
    ),
  ).toEqual(['Once upon', '', ' a time', '']);
});

test('an attempt that says something else than a broken one begins on a new line', () => {
  expect(pieces(delta('1', 'Once'), delta('2', 'On'), delta('2', 'e day'), message('2', 'One day'))).toEqual([
    'Once',
    '',
    '\nOne day',
    '',
  ]);
});

test('pieces that were lost come with the whole message', () => {
  expect(pieces(delta('1', 'a'), message('1', 'abc'))).toEqual(['a', 'bc']);
});

test('turns before and after, subagents and calls of tools say nothing here', () => {
  const text = new TurnText('p');
  const received = [
    prompt('other'),
    message('0', 'not ours'),
    prompt('p'),
    event('assistant.message', { messageId: 's', content: 'sub' }, 'agent'),
    event('assistant.message_delta', { messageId: 't', deltaContent: 'tool', parentToolCallId: 'c' }),
    prompt('word', 'steering'),
    message('1', 'ours'),
    prompt('next'),
    message('2', 'not ours either'),
  ].map((each) => text.receive(each));
  expect(received.filter(Boolean)).toEqual(['ours']);
  expect([text.hasBegun, text.isOver]).toEqual([true, true]);
});
