import {
  Client,
  type ClientOptions,
  defineAgent,
  defineTool,
  RuntimeConnection,
  type SessionOptions,
} from '@groundcrew/sdk';
import { say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { runtimePath, sdkWorld } from './sdk-world.js';

const world = sdkWorld();

/** A client and what it is warned of. */
function warnedClient(options: ClientOptions = {}) {
  const warnings: string[] = [];
  const client = world.newClient({ onWarning: (message) => warnings.push(message), ...options });
  return { client, warnings };
}

/** As plain JavaScript says it: no compiler checks the names. */
const unchecked = (options: object) => options as SessionOptions;

describe('an option that does not exist', () => {
  test.each([
    [
      'createSession',
      { streeming: true },
      "There is no option 'streeming' of createSession: it has no effect. Did you mean 'streaming'?",
    ],
    [
      'createSession',
      { mcpServer: {} },
      "There is no option 'mcpServer' of createSession: it has no effect. Did you mean 'mcpServers'?",
    ],
    [
      'createSession',
      { configDirectory: '/x' },
      "There is no option 'configDirectory' of createSession: it has no effect. Did you mean 'configDir'?",
    ],
    [
      'createSession',
      { temperature: 1 },
      "There is no option 'temperature' of createSession: it has no effect.",
    ],
    [
      'createSession',
      { requestPermission: true },
      "There is no option 'requestPermission' of createSession: it has no effect. Did you mean 'onPermissionRequest'?",
    ],
    [
      'createSession',
      { tools: [{ name: 'look', handle: () => 1 }] },
      "There is no option 'tools.handle' of createSession: it has no effect. Did you mean 'handler'?",
    ],
    [
      'createSession',
      { infiniteSessions: { enable: true } },
      "There is no option 'infiniteSessions.enable' of createSession: it has no effect. Did you mean 'enabled'?",
    ],
    [
      'createSession',
      { sandboxConfig: { userPolicy: { network: { allowOutbund: false } } } },
      "There is no option 'sandboxConfig.userPolicy.network.allowOutbund' of createSession: it has no effect. Did you mean 'allowOutbound'?",
    ],
    [
      'createSession',
      { sandbox: { executor: 'host', netwrk: false } },
      "There is no option 'sandbox.netwrk' of createSession: it has no effect. Did you mean 'network'?",
    ],
    [
      'createSession',
      { canvasProvider: { id: 'a', nme: 'b' } },
      "There is no option 'canvasProvider.nme' of createSession: it has no effect. Did you mean 'name'?",
    ],
    [
      'createSession',
      { tools: [defineTool('look', { handler: () => 1, descripton: 'x' } as never)] },
      "There is no option 'tools.descripton' of createSession: it has no effect. Did you mean 'description'?",
    ],
    [
      'createSession',
      { customAgents: [defineAgent('a', { prompt: 'x', tool: [] } as never)] },
      "There is no option 'customAgents.tool' of createSession: it has no effect. Did you mean 'tools'?",
    ],
    [
      'createSession',
      { onExitPlanMode: () => undefined },
      "There is no option 'onExitPlanMode' of createSession: it has no effect. Did you mean 'onExitPlanModeRequest'?",
    ],
    [
      'createSession',
      { excludedTools: ['bsh'] },
      'The option \'excludedTools\' has no effect for "bsh" (did you mean "bash"?): the session has no such tool.',
    ],
    [
      'resumeSession',
      { continuePendingwork: true },
      "There is no option 'continuePendingwork' of resumeSession: it has no effect. Did you mean 'continuePendingWork'?",
    ],
  ])('of %s gets a warning with the nearest name: %j', async (method, options, message) => {
    const { client, warnings } = warnedClient();
    const { session } = await world.session([say('hello')], {}, client);
    await session.sendAndWait('Hello');
    if (method === 'createSession') await client.createSession(unchecked(options));
    else await client.resumeSession(session.sessionId, unchecked(options));
    expect(warnings).toEqual([message]);
  });

  test('of a provider, a prompt, a change of model and a notice', async () => {
    const { client, warnings } = warnedClient();
    const { session, model } = await world.session([say('hello')], {}, client);
    const provider = { baseUrl: model.baseUrl, apikey: 'secret-of-the-tests' };
    await client.createSession(unchecked({ provider }));
    await session.sendAndWait({ prompt: 'Hello', atachments: [] } as { prompt: string });
    await session.setModel('other', { reasoningEfort: 'low' } as object);
    await session.log('Look', { levle: 'info' } as object);
    expect(warnings).toEqual([
      "There is no option 'provider.apikey' of createSession: it has no effect. Did you mean 'apiKey'?",
      "There is no option 'atachments' of send: it has no effect. Did you mean 'attachments'?",
      "There is no option 'reasoningEfort' of setModel: it has no effect. Did you mean 'reasoningEffort'?",
      "There is no option 'levle' of log: it has no effect. Did you mean 'level'?",
    ]);
  });

  test('of a list of sessions, of agents, a new task and a change of the provider', async () => {
    const { client, warnings } = warnedClient();
    const { session, model } = await world.session([say('hello'), say('done')], {}, client);
    await client.listSessions({ workingdirectory: '/x' } as object);
    await session.agents.list({ includeBuiltin: true } as object);
    await session.tasks.start({ agentType: 'task', prompt: 'x', name: 'a', modle: 'b' } as never);
    await session.updateProvider({ baseUrl: model.baseUrl, apikey: 'secret-of-the-tests' } as object);
    await session.tasks.settled();
    expect(warnings).toEqual([
      "There is no option 'workingdirectory' of listSessions: it has no effect. Did you mean 'workingDirectory'?",
      "There is no option 'includeBuiltin' of agents.list: it has no effect. Did you mean 'includeBuiltIn'?",
      "There is no option 'modle' of tasks.start: it has no effect. Did you mean 'model'?",
      "There is no option 'apikey' of updateProvider: it has no effect. Did you mean 'apiKey'?",
    ]);
  });

  test.each([
    [
      { hooks: { onPreTooluse: () => ({ permissionDecision: 'deny' }) } },
      "There is no hook 'onPreTooluse': did you mean 'onPreToolUse'?",
    ],
    [{ hooks: { onPreToolUse: 'deny' } }, "The hook 'onPreToolUse' is no function"],
    [{ onPermissionRequest: 'deny' }, "The option 'onPermissionRequest' is no function"],
  ])('that would have protected the app fails the call: %j', async (options, message) => {
    const { client } = warnedClient();
    await expect(client.createSession(unchecked(options))).rejects.toMatchObject({
      kind: 'invalid_option',
      message,
    });
  });

  test('settings of MCP servers that the runtime goes by are options of the SDK', async () => {
    const { client, warnings } = warnedClient();
    await client.createSession({
      mcpServers: {
        near: { command: 'true', cwd: world.workingDirectory, deferTools: 'never' },
        far: {
          type: 'http',
          url: 'http://127.0.0.1:9',
          oauthClientId: 'app',
          oauthPublicClient: true,
          oauthGrantType: 'authorization_code',
          auth: { redirectPort: 9 },
          headersRefreshTtlMs: 5000,
        },
      },
    });
    expect(warnings).toEqual([]);
  });

  test('of Client and of its connection', () => {
    const warnings: string[] = [];
    new Client({
      onWarning: (message: string) => warnings.push(message),
      baseDir: '/x',
      workingDirectroy: '/x',
      connection: RuntimeConnection.forStdio({ pathh: runtimePath } as object),
    } as ClientOptions);
    expect(warnings).toEqual([
      "There is no option 'baseDir' of Client: it has no effect.",
      "There is no option 'workingDirectroy' of Client: it has no effect. Did you mean 'workingDirectory'?",
      "There is no option 'pathh' of RuntimeConnection.forStdio: it has no effect. Did you mean 'path'?",
    ]);
  });
});

test('options for starting a runtime get a warning where none is started', () => {
  const warnings: string[] = [];
  new Client({
    onWarning: (message) => warnings.push(message),
    connection: RuntimeConnection.forUri('8080'),
    workingDirectory: '/x',
    logLevel: 'all',
  });
  expect(warnings).toEqual([
    "The option 'workingDirectory' of Client has no effect: the client starts no process for the runtime.",
    "The option 'logLevel' of Client has no effect: the client starts no process for the runtime.",
  ]);
});

test('an option that the runtime does not go by gets its warning, once for all sessions of the client', async () => {
  const { client, warnings } = warnedClient();
  const options: SessionOptions = {
    memory: { enabled: true },
    onExitPlanModeRequest: () => ({ approved: true }),
    tools: [{ name: 'look', defer: 'auto', handler: () => 'seen' }],
  };
  const session = await client.createSession(options);
  await client.createSession(options);
  await client.resumeSession(session.sessionId, options);
  expect(warnings.map((message) => /^The option '(.*?)' /.exec(message)?.[1])).toEqual(['memory']);
});

test('hooks are taken without a warning', async () => {
  const { client, warnings } = warnedClient();
  await client.createSession({ hooks: { onPreToolUse: () => ({ permissionDecision: 'deny' }) } });
  await client.createSession({ hooks: {} });
  expect(warnings).toEqual([]);
});

test('without a handler it is a process warning, and a handler that throws stops nothing', async () => {
  const received: string[] = [];
  const receive = (warning: Error) => received.push(`${warning.name}: ${warning.message}`);
  process.on('warning', receive);
  try {
    new Client({ baseDir: '/x' } as ClientOptions);
    new Client({
      logLevell: 'all',
      onWarning: () => {
        throw new Error('not now');
      },
    } as ClientOptions);
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('warning', receive);
  }
  expect(received).toEqual([
    "GroundcrewWarning: There is no option 'baseDir' of Client: it has no effect.",
    "GroundcrewWarning: There is no option 'logLevell' of Client: it has no effect. Did you mean 'logLevel'?",
    'GroundcrewWarning: The handler onWarning threw: not now',
  ]);
});
