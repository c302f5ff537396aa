import { createOptions, type Methods, type ParsedParams, resumeOptions } from '@groundcrew/protocol';
import { type OptionField, optionFields } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { settingsFrom, shareFrom } from './settings.js';

type Params = ParsedParams<Methods['session.resume']>;

/** What the runtime gets to know of these parameters. */
function receivedOf(params: object): string {
  return JSON.stringify([settingsFrom(params as Params, undefined, '/work'), shareFrom(params as Params)]);
}

/** Without them the same is heard: what they ask for is so by itself, or another field decides. */
const samples: Readonly<Record<string, object>> = {
  'canvasProvider.id': {
    canvases: [{ id: 'a', displayName: 'A', description: '' }],
    canvasProvider: { id: 'mine' },
  },
  'canvasProvider.name': {
    canvases: [{ id: 'a', displayName: 'A', description: '' }],
    canvasProvider: { id: 'mine', name: 'some' },
  },
  includeSubAgentStreamingEvents: { includeSubAgentStreamingEvents: false },
  tracestate: { traceparent: 'some', tracestate: 'some' },
  'hookOptions.timeoutMs': { hooks: true, hookOptions: { timeoutMs: 5 } },
  'hookOptions.types': { hooks: true, hookOptions: { types: ['preToolUse'] } },
  'hookOptions.stopBlocks': { hooks: true, hookOptions: { stopBlocks: 5 } },
  'hookOptions.onFailure': { hooks: true, hookOptions: { onFailure: 'allow' } },
  'sandboxConfig.userPolicy.network.allowLocalNetwork': {
    sandboxConfig: { userPolicy: { network: { allowOutbound: false, allowLocalNetwork: true } } },
  },
  'infiniteSessions.enabled': { infiniteSessions: { enabled: false } },
  'infiniteSessions.backgroundCompactionThreshold': {
    infiniteSessions: { backgroundCompactionThreshold: 0.5 },
  },
  'infiniteSessions.bufferExhaustionThreshold': { infiniteSessions: { bufferExhaustionThreshold: 0.5 } },
};

/** By handlers of their own: `e2e/host-methods.test.ts`, `e2e/extensions.test.ts`, `e2e/newest-credentials.test.ts`, `e2e/resume.test.ts`, `e2e/sub-agents.test.ts` and `e2e/sessions.test.ts` show what they do. */
const elsewhere = [
  'gitHubTokenProviderRegistrationId',
  'enableGitHubTelemetryForwarding',
  'enableSessionTelemetry',
  'requestExtensions',
  'extensionSdkPath',
  'sessionId',
  'agent',
  'disableResume',
  'continuePendingWork',
  'takeOver',
  'waiveHooks',
  'includeSubAgentStreamingEvents',
];

/** Heard of by a list of agents, which is all that becomes of them. */
const listed = ['customAgents'];

const fields = new Map(
  [...optionFields('session.create', createOptions), ...optionFields('session.resume', resumeOptions)].map(
    (field) => [field.path, field],
  ),
);
/** Passed on whole, and looked into where the service is called. */
const isWhole = (path: string) => /^(providers|models|customAgents)\./.test(path);
const known = [...fields.values()].filter(
  ({ path }) => !elsewhere.includes(path) && !listed.includes(path) && !isWhole(path),
);
/** What a sandbox cannot hold is refused, so that no app relies on it. */
const refusedByHandler = ['sandboxConfig.userPolicy.network.proxy'];
const nothing = receivedOf({});
const changes = ({ path, params }: OptionField) =>
  refusedByHandler.includes(path)
    ? throws(() => receivedOf(params))
    : receivedOf(samples[path] ?? params) !== nothing;

function throws(act: () => unknown): boolean {
  try {
    act();
    return false;
  } catch (error) {
    return error instanceof Error && error.name === 'BadSandbox';
  }
}

test('every field that is called used reaches the runtime', () => {
  const used = known.filter(({ support }) => support?.type === 'used');
  expect(used.filter((field) => !changes(field)).map(({ path }) => path)).toEqual([]);
  expect(used.length).toBeGreaterThan(20);
});

test('no field that is called unused or refused reaches the runtime', () => {
  const idle = known.filter(({ support }) => support?.type === 'unused' || support?.type === 'refused');
  // What has an entry of its own in a list is heard of as a whole, with a warning for what has no effect.
  const whole = idle.filter(({ path }) => !/^(tools|provider|modelCapabilities|mcpServers)\./.test(path));
  expect(whole.filter(changes).map(({ path }) => path)).toEqual([]);
  expect(whole.length).toBeGreaterThan(10);
});
