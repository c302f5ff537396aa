import { expect, test } from 'vitest';
import { ageOf } from './client-age.js';

const pinged = { hasConnected: false, isServerFlag: false };
const connected = { hasConnected: true, isServerFlag: false };
const java = { requestPermission: true, envValueMode: 'direct' };
const betas = {
  requestPermission: true,
  requestUserInput: false,
  requestElicitation: false,
  requestExitPlanMode: false,
  requestAutoModeSwitch: false,
  hooks: false,
  includeSubAgentStreamingEvents: true,
  envValueMode: 'direct',
};

test.each([
  ['the newest', { ...betas, toolFilterPrecedence: 'excluded' }, connected, 'new'],
  ['the newest that only pings', { toolFilterPrecedence: 'excluded' }, pinged, 'new'],
  [
    'the newest for Java, in a process that it started',
    java,
    { hasConnected: true, isServerFlag: true },
    'new',
  ],
  ['the newest for Java, with handlers', { ...java, hooks: true, requestUserInput: true }, connected, 'new'],
  ['the newest for Java, on a port', java, connected, 'new'],
  ['1.0.0-beta.4', betas, connected, 'old'],
  ['1.0.0-beta.4 with every handler', { ...betas, ...allOn() }, connected, 'old'],
  ['one that connects and says nothing', {}, connected, 'old'],
  ['0.3.0', { ...java, includeSubAgentStreamingEvents: true }, pinged, 'old'],
  ['0.2.x', java, pinged, 'oldest'],
  ['an earlier one for Java, which pings', java, { hasConnected: false, isServerFlag: true }, 'oldest'],
])('%s', (_name, params, client, age) => {
  expect(ageOf(params, client)).toBe(age);
});

function allOn() {
  return Object.fromEntries(
    Object.entries(betas).map(([name, value]) => [name, value === false ? true : value]),
  );
}
