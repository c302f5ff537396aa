import { builtinToolNames } from '@groundcrew/protocol';
import { expect, test } from 'vitest';
import { builtinTools } from './builtin.js';

test('the protocol names every built-in tool, so that clients can tell a clash before a turn does', () => {
  const tools = builtinTools({ webFetch: { allowedHosts: [] } })({
    reportsIntent: true,
    answersQuestions: true,
  });
  const ofSessions = ['skill'];
  const clashing = tools.filter(({ givesWay }) => !givesWay);
  expect([...clashing.map(({ name }) => name), ...ofSessions].sort()).toEqual(builtinToolNames);
});
