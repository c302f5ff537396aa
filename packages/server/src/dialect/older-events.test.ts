import { expect, test } from 'vitest';
import { eventFor } from './older-events.js';

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
  ['user.message', { content: '"source" "shell_exit"' }, { content: '"source" "shell_exit"' }],
])('%s is told to older clients as they know it', (type, data, expected) => {
  const event = { id: 'e', type, data };
  expect(JSON.parse(eventFor('old', { type, json: JSON.stringify(event) }))).toEqual({
    ...event,
    data: expected,
  });
});
