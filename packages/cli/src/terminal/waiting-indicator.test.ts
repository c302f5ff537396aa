import type { SessionEvent } from '@groundcrew/sdk';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Recorder } from '../../test/streams.js';
import { Redactor } from '../log/redact.js';
import { Display } from './display.js';
import { WaitingIndicator } from './waiting-indicator.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] }));
afterEach(() => void vi.useRealTimers());

const line = (text: string) => `\r\u001b[K${text}`;

function watched() {
  const output = new Recorder(true);
  const errorOutput = new Recorder(true);
  const indicator = new WaitingIndicator(errorOutput);
  const display = new Display({ output, errorOutput, redactor: new Redactor(), indicator });
  const show = (type: string, data: object = {}) =>
    display.show({ id: '', timestamp: '', parentId: null, type, data } as SessionEvent); // all that is read of one
  return { output, errorOutput, show };
}

test('a wait is shown after a second, counts, and is gone when the answer comes', () => {
  const { output, errorOutput, show } = watched();
  show('user.message', { content: 'Hello' });
  vi.advanceTimersByTime(999);
  expect(errorOutput.text).toBe('');
  vi.advanceTimersByTime(1_001);
  expect(errorOutput.text).toBe(
    `${line('… waiting for the model, 1 s')}${line('… waiting for the model, 2 s')}`,
  );
  show('assistant.message_delta', { messageId: 'm', deltaContent: 'Hi' });
  vi.advanceTimersByTime(5_000);
  expect(errorOutput.text.endsWith(`2 s${line('')}`)).toBe(true);
  expect(output.text).toBe('Hi');
});

test('a tool that runs is named, a question takes the line away', () => {
  const { errorOutput, show } = watched();
  show('tool.execution_start', { toolCallId: 'c', toolName: 'look', arguments: {} });
  vi.advanceTimersByTime(3_000);
  expect(errorOutput.text).toContain(line('… waiting for look, 3 s'));
  show('permission.requested', { permissionRequest: { kind: 'read' } });
  const asked = errorOutput.text;
  vi.advanceTimersByTime(3_000);
  expect([asked.endsWith(line('')), errorOutput.text]).toEqual([true, asked]);
});
