import { expect, test } from 'vitest';
import * as z from 'zod';
import { approveAll } from './permission.js';
import { reopeningParams, sessionParams, withProviderUpdate } from './session-params.js';

const always = {
  includeSubAgentStreamingEvents: true,
  toolFilterPrecedence: 'excluded',
  envValueMode: 'direct',
  requestPermission: false,
  requestUserInput: false,
  requestExitPlanMode: false,
  requestAutoModeSwitch: false,
  hooks: false,
};

test('a session without options says how it filters and that it answers nothing', () => {
  expect(sessionParams({})).toEqual(always);
});

test('handlers become flags', () => {
  const options = {
    onPermissionRequest: approveAll,
    onUserInputRequest: () => ({ answer: '' }),
    onExitPlanModeRequest: () => ({ approved: true }),
    onAutoModeSwitchRequest: () => 'no' as const,
    hooks: { onAgentStop: () => undefined },
    onEvent: () => undefined,
  };
  expect(sessionParams(options)).toEqual({
    ...always,
    requestPermission: true,
    requestUserInput: true,
    requestExitPlanMode: true,
    requestAutoModeSwitch: true,
    hooks: true,
    hookOptions: { types: ['agentStop'] },
  });
});

test('nothing an app says is dropped', () => {
  const plain = {
    clientName: 'app',
    model: 'm',
    reasoningEffort: 'xhigh' as const,
    availableTools: ['builtin:*'],
    excludedTools: ['bash'],
    defaultAgent: { excludedTools: ['view'] },
    streaming: true,
    workingDirectory: '/work',
    configDir: '/config',
    infiniteSessions: { enabled: true, backgroundCompactionThreshold: 0.5 },
    agent: 'reviewer',
    skillDirectories: ['/skills'],
    disabledSkills: ['x'],
    continuePendingWork: true,
    disableResume: true,
    largeOutput: { maxSizeBytes: 1 },
    sessionLimits: { maxAiCredits: 2 },
    gitHubToken: 't',
  };
  expect(sessionParams(plain)).toEqual({ ...always, ...plain });
});

test('what has a handler inside goes without it', () => {
  const token = () => 'secret';
  const params = sessionParams({
    tools: [
      {
        name: 't',
        description: 'd',
        parameters: z.object({ a: z.string() }),
        skipPermission: true,
        handler: () => 1,
      },
      { name: 'bare' },
    ],
    provider: { type: 'openai', baseUrl: 'http://a', bearerTokenProvider: token },
    providers: [{ name: 'n', baseUrl: 'http://b', apiKey: 'k' }],
    systemMessage: {
      mode: 'customize',
      content: 'more',
      sections: { tone: { action: (text) => text }, safety: { action: 'append', content: 'x' } },
    },
    mcpServers: {
      local: { command: 'run', args: ['a'], workingDirectory: '/mcp' },
      far: { type: 'http', url: 'http://c' },
    },
    customAgents: [
      { name: 'a', prompt: 'p', mcpServers: { inner: { command: 'c', workingDirectory: '/in' } } },
    ],
  });
  expect(params).toEqual({
    ...always,
    tools: [
      {
        name: 't',
        description: 'd',
        parameters: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        skipPermission: true,
      },
      { name: 'bare' },
    ],
    provider: { type: 'openai', baseUrl: 'http://a', hasBearerTokenProvider: true },
    providers: [{ name: 'n', baseUrl: 'http://b', apiKey: 'k' }],
    systemMessage: {
      mode: 'customize',
      content: 'more',
      sections: { tone: { action: 'transform' }, safety: { action: 'append', content: 'x' } },
    },
    mcpServers: {
      local: { command: 'run', args: ['a'], cwd: '/mcp' },
      far: { type: 'http', url: 'http://c' },
    },
    customAgents: [{ name: 'a', prompt: 'p', mcpServers: { inner: { command: 'c', cwd: '/in' } } }],
  });
});

test('a session that is opened once more leaves what may have changed since', () => {
  const options = {
    model: 'm',
    reasoningEffort: 'high',
    workingDirectory: '/work',
    takeOver: true,
    continuePendingWork: false,
    provider: { baseUrl: 'http://localhost', apiKey: 'key' },
    tools: [{ name: 'look', handler: () => 'seen' }],
  } as const;
  expect(reopeningParams(options)).toEqual({
    ...always,
    continuePendingWork: true,
    provider: { baseUrl: 'http://localhost', apiKey: 'key' },
    tools: [{ name: 'look' }],
  });
});

test('options follow an update of the service, and one that has no address here is not named again', () => {
  const provider = { baseUrl: 'http://x.test', apiKey: 'k', headers: { a: '1' } };
  const updated = withProviderUpdate({ provider }, { bearerToken: 't', headers: { b: '2' } });
  expect(reopeningParams(updated).provider).toEqual({
    baseUrl: 'http://x.test',
    bearerToken: 't',
    headers: { b: '2' },
  });
  const providers = [{ name: 'alpha', baseUrl: 'http://a.test', apiKey: 'k' }];
  const named = withProviderUpdate({ providers }, { providerName: 'alpha', wireModel: 'w' });
  expect(named).toEqual({
    providers: [{ name: 'alpha', baseUrl: 'http://a.test', apiKey: 'k', wireModel: 'w' }],
  });
  expect(reopeningParams(withProviderUpdate({}, { apiKey: 'k' }))).not.toHaveProperty('provider');
});
