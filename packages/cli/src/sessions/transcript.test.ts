import type { SessionEvent } from '@groundcrew/sdk';
import { expect, test } from 'vitest';
import { transcriptOf } from './transcript.js';

const event = (type: string, data: object) =>
  ({ id: '', timestamp: '', parentId: null, type, data }) as SessionEvent; // all that a transcript reads

test('a call that begins again after a resume is listed once', () => {
  const begin = event('tool.execution_start', { toolCallId: 'c1', toolName: 'look', arguments: {} });
  expect(
    transcriptOf([
      event('user.message', { content: 'Look' }),
      begin,
      event('session.resume', { eventCount: 2, resumeTime: '' }),
      begin,
      event('tool.execution_complete', { toolCallId: 'c1', success: true }),
      event('assistant.message', { messageId: 'm', content: 'Seen.' }),
    ]),
  ).toEqual(['> Look', '› look', 'Seen.']);
});
