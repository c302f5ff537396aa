import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createOptions,
  resumeOptions,
  sendOptions,
  switchOptions,
  updateOptions,
} from '@groundcrew/protocol';
import {
  liveRuntime,
  type OptionField,
  optionFields,
  providerOf,
  say,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();

const isUnused = ({ support, params }: OptionField) =>
  support?.type === 'unused' && !support.neutral.some((value) => Object.values(params).includes(value));

/** The warnings of options that the session has said. */
const said = (session: WireSession) =>
  session.events.flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { message: string }).message] : [],
  );

const about = (path: string) => expect.stringContaining(`'${path}'`) as string;

/** What has to be named besides, so that nothing else is wrong with the parameters. */
const beside = (path: string): object => {
  if (path === 'agent') return { customAgents: [{ name: 'some' }] };
  return path.startsWith('models.') ? { providers: [{ name: 'other', baseUrl: 'http://127.0.0.1:9' }] } : {};
};

/** A field of a list's item, with what every item needs. */
function completed(params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const needed: Readonly<Record<string, object>> = {
    tools: { name: 'look' },
    providers: { name: 'other', baseUrl: 'http://127.0.0.1:9' },
    models: { id: 'm', provider: 'other' },
  };
  const [name = '', value] = Object.entries(params)[0] ?? [];
  if (needed[name]) return { [name]: [{ ...needed[name], ...(value as readonly object[])[0] }] };
  return params;
}

const create = optionFields('session.create', createOptions);

describe('every field is used, refused, or warned about', () => {
  test.each([
    ['session.create', createOptions],
    ['session.resume', resumeOptions],
    ['session.send', sendOptions],
    ['session.options.update', updateOptions],
    ['session.model.switchTo', switchOptions],
  ] as const)('of %s, by its table', (method, table) => {
    const fields = optionFields(method, table);
    expect(fields.filter(({ support }) => support === undefined)).toEqual([]);
    expect(fields.length).toBeGreaterThan(8);
  });

  test.each(create.filter(isUnused).map((field) => [field.path, field] as const))(
    '%s on create: one warning, at the first prompt',
    async (path, { params }) => {
      const model = runtime.script(say('hello'));
      const provider = providerOf(model);
      const given = completed(params);
      const isOfProvider = path.startsWith('provider.');
      const settings = {
        ...provider,
        ...beside(path),
        ...given,
        ...(isOfProvider && { provider: { ...provider.provider, ...(given.provider as object) } }),
      };
      const session = await runtime.client.create(settings);
      await session.turn('Hello');
      const isBeside = (text: string) => path === 'agent' && text.includes("'customAgents'");
      expect(said(session).filter((text) => !isBeside(text))).toEqual([about(path)]);
    },
  );
});

test('what asks for nothing is no reason to warn: all that official clients always send, or send as off', async () => {
  const { session } = await runtime.session([say('hello')], {
    toolFilterPrecedence: 'excluded',
    requestPermission: true,
    requestUserInput: false,
    requestElicitation: false,
    requestExitPlanMode: false,
    requestAutoModeSwitch: false,
    hooks: false,
    includeSubAgentStreamingEvents: true,
    envValueMode: 'direct',
    mcpServers: {},
    customAgents: [],
    skillDirectories: [],
    disabledSkills: null,
    infiniteSessions: { enabled: true },
    toolSearch: { enabled: false },
    memory: { enabled: false },
    enableSessionTelemetry: false,
    mcpOAuthTokenStorage: 'in-memory',
    skipEmbeddingRetrieval: true,
    embeddingCacheStorage: 'in-memory',
    enableOnDemandInstructionDiscovery: false,
    enableFileHooks: false,
    enableHostGitOperations: false,
    enableSessionStore: false,
    enableSkills: false,
    customAgentsLocalOnly: true,
    isExperimentalMode: false,
    contextTier: 'default',
    organizationCustomInstructions: '',
  });
  await session.call('session.options.update', {
    skipCustomInstructions: true,
    customAgentsLocalOnly: true,
    coauthorEnabled: false,
    manageScheduleEnabled: false,
    installedPlugins: [],
    includedBuiltinSkills: [],
  });
  await session.turn('Hello');
  expect(said(session)).toEqual([]);
});

test.each([
  [{ permissions: { deny: ['bash'] } }, 'managedSettings.permissions.deny'],
  [{ permissions: { disableBypassPermissionsMode: 'disable' } }, 'managedSettings.permissions.disableBypass'],
])('rules that would not hold are refused: %j', async (managedSettings, path) => {
  const { message } = await runtime.client.failure('session.create', { managedSettings });
  expect(message).toContain(path);
});

test('options of a resume, of a join and of an update are warned about at once, each once', async () => {
  const { session, model } = await runtime.session([say('a'), say('b')], { enableSessionStore: true });
  expect(said(session)).toEqual([]);
  await session.turn('One');
  expect(said(session)).toEqual([about('enableSessionStore')]);
  const { sessionId } = session;
  const more = { sessionId, ...providerOf(model), enableSessionStore: true, remoteSession: 'on' };
  await session.call('session.resume', more);
  await runtime.client.call('session.create', { sessionId, memory: { enabled: true } });
  await session.call('session.options.update', { coauthorEnabled: true, contextTier: 'long_context' });
  await session.call('session.model.switchTo', { modelId: 'other', requireAvailable: true });
  await session.turn('Two', { agentMode: 'shell', requiredTool: 'look' });
  expect(said(session)).toEqual(
    [
      'enableSessionStore',
      'remoteSession',
      'memory',
      'coauthorEnabled',
      'contextTier',
      'requireAvailable',
      'requiredTool',
      'agentMode',
    ].map(about),
  );
});

test('an unknown field is named in a warning, and many of them are no flood', async () => {
  const many = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`made up ${index}\n${'x'.repeat(500)}`, 1]),
  );
  const { session } = await runtime.session([say('hello')], { askUserVariant: 'x', ...many });
  await session.turn('Hello');
  const warnings = said(session);
  expect(warnings[0]).toBe("The option 'askUserVariant' has no effect: this version does not know it.");
  expect(warnings.length).toBeLessThan(300);
  expect(Math.max(...warnings.map(({ length }) => length))).toBeLessThan(200);
});

test('more values than options can have are refused, and many tools are not', async () => {
  const many = (length: number) => Array.from({ length }, (_, index) => `value ${index} ${'x'.repeat(20)}`);
  const field = { type: 'string', description: 'a field of it' };
  const properties = Object.fromEntries(many(20).map((name) => [name, field]));
  const tools = many(500).map((_, index) => ({
    name: `t${index}`,
    parameters: { type: 'object', properties },
  }));
  const large = Object.fromEntries(many(50).map((name) => [name, field]));
  const many500 = tools.map(({ name }) => ({ name, parameters: { type: 'object', properties: large } }));
  await runtime.session([], { tools: many500 });
  const { session } = await runtime.session([], { tools });
  const refused = { message: expect.stringContaining('too many values') as string };
  const { client } = runtime;
  expect(await client.failure('session.create', { excludedTools: many(20_000) })).toMatchObject(refused);
  expect(await client.failure('session.create', { tools: [...tools, ...tools, ...tools] })).toMatchObject(
    refused,
  );
  const one = { name: 'one', parameters: { type: 'object', enum: many(25_000) } };
  expect(await client.failure('session.create', { tools: [one] })).toMatchObject(refused);
  expect(
    await session.failure('session.send', { prompt: 'x', requestHeaders: { ...many(20_000) } }),
  ).toMatchObject(refused);
  expect(await session.failure('session.log', { message: 'x', more: many(60_000) })).toMatchObject(refused);
});

test('effort and precedence change by session.options.update', async () => {
  const { session, model } = await runtime.session([say('a'), say('b')], {
    toolFilterPrecedence: 'excluded',
    availableTools: ['view'],
    excludedTools: ['view'],
  });
  await session.turn('One');
  await session.call('session.options.update', {
    reasoningEffort: 'high',
    toolFilterPrecedence: 'available',
  });
  await session.turn('Two');
  expect(model.requests.map(({ body }) => [body.reasoning_effort, body.tools?.length ?? 0])).toEqual([
    [undefined, 0],
    ['high', 1],
  ]);
});

test.each([
  [{ infiniteSessions: { enable: false } }, ["'infiniteSessions.enable'"]],
  [{ infiniteSessions: { enabled: true, threshold: 1 } }, ["'infiniteSessions.threshold'"]],
  [
    { sandboxConfig: { userPolicy: { filesystem: { deniedPath: ['/x'] } } } },
    ["'sandboxConfig.userPolicy.filesystem.deniedPath'"],
  ],
  [{ sandboxConfig: { enable: false } }, ["'sandboxConfig.enable'"]],
  [{ sessionLimits: { maxToken: 5 } }, ["'sessionLimits.maxToken'"]],
  [{ hookOptions: { timeoutMs: 5 } }, ["'hookOptions' has no effect: 'hooks' is not given"]],
  [
    { excludedTools: ['bsh', 'view', 'builtin:*', 'powershell'] },
    ['\'excludedTools\' has no effect for "bsh" (did you mean "bash"?): the session has no such tool'],
  ],
  [
    { availableTools: ['vew', 'mcp:nothing', 'view'] },
    ['\'availableTools\' has no effect for "vew" (did you mean "view"?), "mcp:nothing"'],
  ],
  [{ defaultAgent: { excludedTools: ['x'] } }, ['\'defaultAgent.excludedTools\' has no effect for "x"']],
  [{ availableTools: ['custm:*'] }, ['\'availableTools\' has no effect for "custm:*"']],
  [
    { customAgents: [{ name: 'a', prompt: 'x', tools: ['bsh', 'view', '*', 'files/*'] }] },
    ['\'customAgents.tools\' has no effect for "bsh" (did you mean "bash"?): the session has no such tool'],
  ],
  [{ commands: [{ name: 'a', desc: 'x' }] }, ["'commands.desc'"]],
  [{ canvasProvider: { id: 'a', nme: 'x' } }, ["'canvasProvider.nme'"]],
  [
    { canvases: [{ id: 'a', displayName: 'A', description: '', actions: [{ name: 'b', titel: 'B' }] }] },
    ["'canvases.actions.titel'"],
  ],
  [{ tools: [{ name: 'look', defer: 'nver' }] }, ['\'tools.defer\' has no effect as "nver"']],
  [{ toolFilterPrecedence: 'exclude' }, ['\'toolFilterPrecedence\' has no effect as "exclude"']],
  [{ mcpOAuthTokenStorage: 'in-memry' }, ['\'mcpOAuthTokenStorage\' has no effect as "in-memry"']],
  [
    { systemMessage: { mode: 'appnd', content: 'x' } },
    ['\'systemMessage.mode\' has no effect as "appnd": known are "append", "replace", "customize".'],
  ],
  [
    { systemMessage: { mode: 'customize', sections: { tone: { action: 'remve' } } } },
    ['\'systemMessage.sections.action\' has no effect as "remve"'],
  ],
  [
    { systemMessage: { mode: 'append', sections: { tone: { action: 'remove' } } } },
    ["'systemMessage.sections' has no effect: 'systemMessage.mode' is not \"customize\"."],
  ],
  [
    { infiniteSessions: { enabled: false, bufferExhaustionThreshold: 0.5 } },
    ["'infiniteSessions.bufferExhaustionThreshold' has no effect: 'infiniteSessions.enabled' is false."],
  ],
  [{ instructionDirectories: ['/no/such'] }, ['\'instructionDirectories\' has no effect for "/no/such"']],
  [{ pluginDirectories: ['/no/such'] }, ['\'pluginDirectories\' has no effect for "/no/such"']],
  [{ additionalDirectories: ['/no/such'] }, ['\'additionalDirectories\' has no effect for "/no/such"']],
] as const)(
  '%j: a name that nothing is meant by is warned of, in the answer and at the first prompt',
  async (settings, parts) => {
    const model = runtime.script(say('hello'));
    const session = await runtime.client.create({ ...providerOf(model), ...settings });
    const expected = parts.map((part) => expect.stringContaining(part) as string);
    const again = { sessionId: session.sessionId, ...providerOf(model), ...settings };
    expect(await runtime.client.call('session.create', again)).toMatchObject({ warnings: expected });
    await session.turn('Hello');
    expect(said(session)).toEqual(expected);
  },
);

test.each([
  [{ type: 'htp', url: 'http://127.0.0.1:9' }, ["'mcpServers.type'", "'mcpServers.url'"]],
  [{ command: 'true', deferTools: 'nver' }, ["'mcpServers.deferTools'"]],
  [{ command: 'true', headers: { a: 'b' } }, ["'mcpServers.headers'"]],
  [{ type: 'http', url: 'http://127.0.0.1:9', env: { A: 'b' } }, ["'mcpServers.env'"]],
  [{ type: 'http', url: 'http://127.0.0.1:9', args: [], cwd: null, headers: {} }, []],
  [{ type: 'streamable-http', url: 'http://127.0.0.1:9', headers: { a: 'b' } }, []],
])('of an MCP server what does not go with how it is reached is warned of: %j', async (server, parts) => {
  const settings = { mcpServers: { some: server } };
  const { warnings = [] } = (await runtime.client.call('session.create', settings)) as {
    readonly warnings?: readonly string[];
  };
  expect(warnings).toEqual(parts.map((part) => expect.stringContaining(part) as string));
});

test.each([
  [{ azure: { apiVersion: '1' } }, ["'provider.azure' has no effect: 'provider.type' is not \"azure\"."]],
  [
    { type: 'anthropic', wireApi: 'responses' },
    ["'provider.wireApi' has no effect: 'provider.type' \"anthropic\" has one wire."],
  ],
  [{ type: 'azure', azure: { apiVersion: '1' }, wireApi: 'responses' }, []],
])('of a provider what its type does not have is warned of: %j', async (part, texts) => {
  const settings = { provider: { baseUrl: 'http://127.0.0.1:9', ...part } };
  const { warnings = [] } = (await runtime.client.call('session.create', settings)) as {
    readonly warnings?: readonly string[];
  };
  expect(warnings).toEqual(texts.map((text) => expect.stringContaining(text) as string));
});

test('a section that does not exist cannot be removed: one warning, at the first prompt', async () => {
  const { session } = await runtime.session([say('hello')], {
    systemMessage: {
      mode: 'customize',
      sections: { toen: { action: 'remove' }, tone: { action: 'remove' } },
    },
  });
  await session.turn('Hello');
  expect(said(session)).toEqual(['The system message edits a section named toen, which does not exist.']);
});

test('a wish for the server of GitHub is warned of where there is none', async () => {
  const { session } = await runtime.session([say('hello')], {
    githubMcpToolConfig: { enableAllTools: true, additionalTool: ['x'] },
  });
  await session.turn('Hello');
  expect(said(session)).toEqual([about('githubMcpToolConfig'), about('githubMcpToolConfig.additionalTool')]);
});

test.each([
  ['session.permissions.configure', { deniedRules: [] }, 'deniedRules', ''],
  ['session.shell.exec', { command: 'true', timout: 5 }, 'timout', " Did you mean 'timeout'?"],
  ['session.mode.set', { mode: 'interactive', Mode: 'plan' }, 'Mode', " Did you mean 'mode'?"],
  ['session.log', { message: 'Look', levl: 'error' }, 'levl', " Did you mean 'level'?"],
  ['session.plan.update', { content: 'x', contents: 'y' }, 'contents', " Did you mean 'content'?"],
] as const)('a parameter that %s does not know is warned of, once', async (method, params, name, hint) => {
  const { session } = await runtime.session([say('hello')]);
  await session.turn('Hello');
  for (let count = 0; count < 2; count++) await session.call(method, params).catch(() => undefined);
  await session.call('session.log', { message: 'over' });
  await session.next('session.info', ({ data }) => data.message === 'over');
  expect(said(session)).toEqual([
    `The parameter '${name}' of ${method} has no effect: this version does not know it.${hint}`,
  ]);
});

test.each([
  [{ disabledSkills: ['revew', 'review'] }, ['disabledSkills', '"revew" (did you mean "review"?)', 'skill']],
  [
    {
      mcpServers: { files: { command: 'true' } },
      disabledMcpServers: ['file', 'files', 'github-mcp-server'],
    },
    ['disabledMcpServers', '"file" (did you mean "files"?)', 'server'],
  ],
  [
    { excludedBuiltinAgents: ['explroe', 'task'] },
    ['excludedBuiltinAgents', '"explroe" (did you mean "explore"?)', 'built-in agent'],
  ],
  [
    { subagents: { disabledSubagents: ['taks', 'mine'] } },
    ['subagents.disabledSubagents', '"taks" (did you mean "task"?)', 'agent'],
  ],
  [
    { subagents: { agents: { mien: { model: 'm' }, mine: { model: 'm' } } } },
    ['subagents.agents', '"mien" (did you mean "mine"?)', 'agent'],
  ],
  [{ subagents: { nobody: { model: 'm' } } }, ['subagents.agents', '"nobody"', 'agent']],
] as const)('a name in %j that nothing has is warned of, once', async (settings, [option, name, what]) => {
  const place = join(runtime.home.path, 'some-skills', 'review');
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'SKILL.md'), '---\nname: review\ndescription: Looks at changes\n---\nLook.\n');
  const { session } = await runtime.session([say('1'), say('2')], {
    skillDirectories: [join(runtime.home.path, 'some-skills')],
    customAgents: [{ name: 'mine', prompt: 'x' }],
    ...settings,
  });
  await session.turn('Hello');
  await session.turn('Again');
  expect(said(session)).toEqual([
    `The option '${option}' has no effect for ${name}: the session has no such ${what}.`,
  ]);
});

test('a limit of sub-agents that is misspelt is warned of with the name that is meant', async () => {
  const subagents = { limits: { maxToken: 5 }, agents: { task: { limits: { maxCall: 5 } } } };
  const { session } = await runtime.session([say('1')], { subagents });
  await session.turn('Hello');
  expect(said(session)).toEqual([
    "The option 'subagents.limits.maxToken' is not known, and has no effect. Did you mean 'maxTokens'?",
    "The option 'subagents.agents.task.limits.maxCall' is not known, and has no effect. Did you mean 'maxCalls'?",
  ]);
  const message = "subagents.maxDeph is no setting of an agent; did you mean 'maxDepth'?";
  expect(await runtime.client.failure('session.create', { subagents: { maxDeph: 1 } })).toMatchObject({
    message: expect.stringContaining(message) as string,
  });
});

test.each([
  [{ type: 'file', path: '/no/such', lineRang: { start: 1, end: 2 } }, 'lineRang', 'lineRange'],
  [{ type: 'file', path: '/no/such', lineRange: { start: 1, end: 2, stop: 3 } }, 'lineRange.stop', undefined],
  [{ type: 'directory', path: '/no/such', displayname: 'x' }, 'displayname', 'displayName'],
  [{ type: 'blob', mimeType: 'text/plain', data: 'eA==', mimetype: 'x' }, 'mimetype', 'mimeType'],
  [{ type: 'selection', filePath: '/no/such', txt: 'x' }, 'txt', 'text'],
] as const)(
  'a field of an attachment that is not known is warned of: %j',
  async (attachment, field, near) => {
    const { session } = await runtime.session([say('1')]);
    const sent = { prompt: 'Look', attachments: [attachment, attachment] };
    await session.call('session.send', sent);
    await session.next('session.idle');
    const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
    expect(said(session).filter((text) => text.includes('does not know'))).toEqual([
      `The option 'attachments.${field}' has no effect: this version does not know it.${hint}`,
    ]);
  },
);

test('an option that protects is refused beside any number of unknown options', async () => {
  const made = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`made${index}`, true]));
  const managedSettings = { permissions: { deny: ['shell(rm)'] } };
  expect(await runtime.client.failure('session.create', { ...made, managedSettings })).toMatchObject({
    message: expect.stringContaining("'managedSettings.permissions.deny' is not available") as string,
  });
});

test('of what has no form of its own in the tables, every object with fields is looked into', () => {
  const whole = [
    ...optionFields('session.create', createOptions),
    ...optionFields('session.resume', resumeOptions),
    ...optionFields('session.options.update', updateOptions),
    ...optionFields('session.send', sendOptions),
  ].filter(({ support, hasFields }) => hasFields && support?.type === 'used');
  expect(whole.map(({ path }) => path)).toEqual([]);
});

test('names that tools have, or may have with other clients, are not warned of', async () => {
  const { session } = await runtime.session([say('hello')], {
    availableTools: ['view', 'builtin:grep', 'custom:*', 'mcp:*', 'ask_user'],
    excludedTools: ['bash', 'powershell', 'report_intent'],
    hooks: true,
    hookOptions: { timeoutMs: 5000 },
    sandboxConfig: { enabled: false, userPolicy: { filesystem: { deniedPaths: [] } } },
    infiniteSessions: { enabled: true },
  });
  await session.turn('Hello');
  expect(said(session)).toEqual([]);
});

test('a filter that session.options.update sets is looked at too', async () => {
  const { session } = await runtime.session([say('hello')]);
  await session.call('session.options.update', { excludedTools: ['nothing'] });
  await session.turn('Hello');
  expect(said(session)).toEqual([about('excludedTools')]);
});

test('what a hook wants changed and cannot change is warned of', async () => {
  const model = runtime.script(say('hello'));
  runtime.client.answer = async (_method, params) =>
    (params as { hookType: string }).hookType === 'sessionStart'
      ? { output: { modifiedConfig: { temperature: 1, excludedTools: ['nothing', 'view'] } } }
      : {};
  const session = await runtime.client.create({ ...providerOf(model), hooks: true });
  await session.turn('Hello');
  expect(said(session)).toEqual([about('temperature'), about('excludedTools')]);
});

test.each([
  [{ largeOutput: { enabled: false, maxSizeBytes: 5 } }, ['largeOutput.maxSizeBytes']],
  [{ toolSearch: { enabled: false, deferThreshold: 5 } }, ['toolSearch.deferThreshold']],
  [
    {
      sandboxConfig: { enabled: false, userPolicy: { filesystem: { deniedPaths: ['/some'] } }, auth: {} },
    },
    ['sandboxConfig.userPolicy'],
  ],
  [{ enableSkills: false, disabledSkills: ['some'] }, ['disabledSkills']],
  [{ skipCustomInstructions: true, instructionDirectories: ['/'] }, ['instructionDirectories']],
  [{ hooks: true, hookOptions: { types: [] } }, ['hooks']],
  [
    { infiniteSessions: { backgroundCompactionThreshold: 0.9, bufferExhaustionThreshold: 0.5 } },
    ['infiniteSessions.backgroundCompactionThreshold'],
  ],
  [{ infiniteSessions: { backgroundCompactionThreshold: 0.5, bufferExhaustionThreshold: 0.9 } }, []],
  [{ provider: { baseUrl: 'http://127.0.0.1:9', apiKey: 'a', bearerToken: 'b' } }, ['provider.apiKey']],
  [
    { provider: { baseUrl: 'http://127.0.0.1:9', apiKey: 'a', hasBearerTokenProvider: true } },
    ['provider.apiKey'],
  ],
  [{ providerRef: 'some', provider: { baseUrl: 'http://127.0.0.1:9' } }, ['providerRef']],
  [
    { availableTools: ['bash'], excludedTools: ['bash'], toolFilterPrecedence: 'available' },
    ['excludedTools'],
  ],
  [{ availableTools: ['bash', 'view'], excludedTools: ['bash'], toolFilterPrecedence: 'excluded' }, []],
  [{ tools: [{ name: 'bsh', overridesBuiltInTool: true }] }, ['tools.overridesBuiltInTool']],
  [{ tools: [{ name: 'vew', actsForBuiltIn: true }] }, ['tools.actsForBuiltIn']],
  [{ tools: [{ name: 'powershell', overridesBuiltInTool: true }] }, []],
  [{ tools: [{ name: 'look' }, { name: 'look' }] }, ['tools']],
  [{ customAgents: [{ name: 'a' }, { name: 'a' }] }, ['customAgents']],
  [{ commands: [{ name: 'a' }, { name: 'a' }] }, ['commands']],
] as const)('what another option leaves without effect is warned of: %j', async (settings, options) => {
  const { warnings = [] } = (await runtime.client.call('session.create', settings)) as {
    readonly warnings?: readonly string[];
  };
  expect(warnings).toEqual(options.map(about));
});

test('of two tools of one name the model gets the last: no service takes both', async () => {
  const tools = ['first', 'last'].map((description) => ({ name: 'look', description }));
  const { session, model } = await runtime.session([say('hello')], { tools, availableTools: [] });
  await session.turn('Hello');
  const sent = model.requests.flatMap(({ body }) => body.tools ?? []);
  expect(sent).toEqual([
    expect.objectContaining({ function: expect.objectContaining({ name: 'look', description: 'last' }) }),
  ]);
});
