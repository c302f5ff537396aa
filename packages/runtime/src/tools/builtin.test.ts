import { builtinToolNames } from '@groundcrew/protocol';
import { expect, test } from 'vitest';
import { answeringClients, builtinTools } from './builtin.js';

test('the protocol names every built-in tool, so that clients can find a clash before a turn does', () => {
  const toolsIn = builtinTools({ webFetch: { allowedHosts: [] } });
  const names = (['plan', 'autopilot'] as const).flatMap((mode) =>
    toolsIn({ ...answeringClients, reportsIntent: true, mode }).flatMap(({ name, givesWay }) =>
      givesWay ? [] : [name],
    ),
  );
  const ofSessions = ['skill', 'task', 'read_agent', 'write_agent', 'list_agents', 'stop_agent'];
  expect([...new Set([...names, ...ofSessions])].sort()).toEqual(builtinToolNames);
});
