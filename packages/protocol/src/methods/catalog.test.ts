import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { type Params, type ParsedParams, type Result, withoutNulls } from '../define.js';
import { type MethodName, type Methods, methods } from './catalog.js';

const sessionId = '3f1c2f0e-8f57-4b7e-9d5b-0a9f8f1f7a01';

test('the table holds exactly the methods that are served', () => {
  expect(Object.keys(methods).sort()).toEqual(served);
});

test.each<[MethodName, unknown, unknown]>([
  ['connect', { token: 'secret' }, { ok: true, protocolVersion: 3, version: '0.1.0' }],
  ['connect', {}, { ok: true, protocolVersion: 3, version: '0.1.0' }],
  [
    'ping',
    { message: 'hi' },
    { message: 'pong: hi', timestamp: '2026-01-02T03:04:05.678Z', protocolVersion: 3 },
  ],
  ['ping', {}, { message: 'pong', timestamp: 1767323045678, protocolVersion: 2 }],
  ['status.get', {}, { version: '0.1.0', protocolVersion: 3 }],
  ['auth.getStatus', {}, { isAuthenticated: true, authType: 'token', host: 'https://example.com' }],
  ['runtime.shutdown', {}, null],
  ['models.list', {}, { models: [{ id: 'auto', name: 'Auto', capabilities: {} }] }],
  [
    'account.getQuota',
    { gitHubToken: 't' },
    {
      quotaSnapshots: {
        chat: {
          isUnlimitedEntitlement: false,
          entitlementRequests: 100,
          usedRequests: 25,
          usageAllowedWithExhaustedQuota: true,
          remainingPercentage: 75,
          overage: 2,
          overageAllowedWithExhaustedQuota: true,
        },
      },
    },
  ],
  ['llmInference.setProvider', {}, { success: true }],
  [
    'llmInference.httpResponseStart',
    { requestId: 'r', status: 200, statusText: 'OK', headers: { 'content-type': ['text/plain'] } },
    { accepted: true },
  ],
  [
    'llmInference.httpResponseChunk',
    { requestId: 'r', data: '', end: true, error: { message: 'gone', code: 'ECONNRESET' } },
    { accepted: false },
  ],
  [
    'session.agent.list',
    { sessionId, includePrompt: true },
    { agents: [{ id: 'a', name: 'a', displayName: 'A', description: '', prompt: 'Help.' }] },
  ],
  [
    'session.gitHubAuth.getStatus',
    { sessionId },
    { isAuthenticated: true, authType: 'token', login: 'ann', copilotPlan: 'business' },
  ],
  [
    'session.provider.add',
    { sessionId, providers: [{ name: 'p', baseUrl: 'http://x' }], models: [{ id: 'm', provider: 'p' }] },
    { models: [{ id: 'p/m', name: 'm', capabilities: {} }] },
  ],
  [
    'session.provider.getEndpoint',
    { sessionId, modelId: 'm' },
    { type: 'anthropic', baseUrl: 'http://x', apiKey: 'k', headers: { 'X-Team': 'blue' } },
  ],
  ['session.provider.update', { sessionId, provider: { headers: { a: '1' } } }, { success: true }],
  ['session.create', createParams(), openedSession()],
  ['session.create', {}, openedSession()],
  ['session.resume', { sessionId, continuePendingWork: true, takeOver: true }, openedSession()],
  ['session.send', { sessionId, prompt: 'What is 1+1?', mode: 'immediate' }, { messageId: 'm1' }],
  ['session.getMessages', { sessionId }, { events: [startEvent()] }],
  ['session.destroy', { sessionId }, { success: true }],
  ['session.delete', { sessionId }, { success: false, error: `Session file not found for ${sessionId}` }],
  ['session.abort', { sessionId, reason: 'user_abort' }, { success: true }],
  ['session.suspend', { sessionId }, null],
  ['session.list', { filter: { cwd: '/work' } }, { sessions: [metadata()] }],
  ['session.getMetadata', { sessionId }, {}],
  ['session.getMetadata', { sessionId }, { session: metadata() }],
  ['session.getLastId', {}, { sessionId }],
  ['session.setForeground', { sessionId }, { success: false, error: 'no terminal' }],
  ['session.log', { sessionId, message: 'hello', level: 'warning', ephemeral: true }, { eventId: 'e1' }],
  [
    'session.model.switchTo',
    { sessionId, modelId: 'large', reasoningEffort: 'high' },
    { status: 'applied', deferred: false, modelId: 'large', deprecationWarnings: [] },
  ],
  [
    'session.metadata.activity',
    { sessionId },
    {
      abortable: true,
      hasActiveWork: true,
      waitingOn: [
        { kind: 'model', since: '2026-01-02T03:04:05.678Z', model: 'large', attempt: 1 },
        { kind: 'permission', since: '2026-01-02T03:04:05.678Z', requestId: 'r1' },
      ],
    },
  ],
  [
    'session.ui.handlePendingSessionLimitsExhausted',
    { sessionId, requestId: 'r1', response: { action: 'add', additionalAiCredits: 5 } },
    { success: true },
  ],
  ['session.mode.get', { sessionId }, 'plan'],
  ['session.mode.set', { sessionId, mode: 'plan' }, { status: 'unchanged', modelChanged: false }],
  ['session.name.get', { sessionId }, { name: null }],
  ['session.tools.handlePendingToolCall', { sessionId, requestId: 'r1', result: 'plain' }, { success: true }],
  ['session.tools.handlePendingToolCall', { sessionId, requestId: 'r1', error: 'boom' }, { success: true }],
  [
    'session.tools.handlePendingToolCall',
    {
      sessionId,
      requestId: 'r1',
      result: {
        textResultForLlm: '54321',
        resultType: 'success',
        error: null,
        binaryResultsForLlm: [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }],
      },
    },
    { success: false },
  ],
  ['session.tools.getCurrentMetadata', { sessionId }, { tools: null }],
  ['session.tools.initializeAndValidate', { sessionId }, {}],
  ['tools.list', {}, { tools: [{ name: 'view', description: 'Shows', parameters: { type: 'object' } }] }],
  [
    'session.ui.handlePendingUserInput',
    { sessionId, requestId: 'r1', response: { answer: 'Red', wasFreeform: false } },
    { success: true },
  ],
  [
    'session.permissions.handlePendingPermissionRequest',
    {
      sessionId,
      requestId: 'r1',
      result: { kind: 'approve-for-session', approval: { kind: 'commands', commandIdentifiers: ['git'] } },
    },
    { success: true },
  ],
  [
    'session.permissions.pendingRequests',
    { sessionId },
    { items: [{ requestId: 'r1', request: { kind: 'path', accessKind: 'read', paths: ['/etc/hostname'] } }] },
  ],
  [
    'session.options.update',
    { sessionId, skipCustomInstructions: true, coauthorEnabled: false, installedPlugins: [] },
    { success: true },
  ],
  [
    'session.eventLog.read',
    { sessionId, cursor: '7', types: ['user.message'], waitMs: 0 },
    { events: [startEvent()], cursor: '9', hasMore: false, cursorStatus: 'ok' },
  ],
  [
    'session.eventLog.registerInterest',
    { sessionId, eventType: 'mcp.oauth_required' },
    { handle: 'interest-1' },
  ],
  ['session.plan.read', { sessionId }, { exists: false, content: null, path: null }],
  ['session.plan.readSqlTodos', { sessionId }, { rows: [{ id: 'a', status: 'done' }] }],
  [
    'session.plan.readSqlTodosWithDependencies',
    { sessionId },
    { rows: [], dependencies: [{ todoId: 'a', dependsOn: 'b' }] },
  ],
  ['session.queue.pendingItems', { sessionId }, { items: [], steeringMessages: ['stop'] }],
])('%s takes and answers what clients know', (name, params, result) => {
  expect(methods[name].params().parse(params)).toEqual(params);
  expect(methods[name].result().parse(result)).toEqual(result);
});

test('null equals absent for every optional parameter', () => {
  const params = { sessionId, prompt: 'hi', attachments: null, mode: null, requestHeaders: null };
  expect(methods['session.send'].params().parse(withoutNulls(params))).toEqual({ sessionId, prompt: 'hi' });
  expect(methods.ping.params().parse(withoutNulls({ message: null }))).toEqual({});
});

test('fields and values that create and resume do not know survive, at any depth', () => {
  const unknown = {
    fieldOfTomorrow: { deep: [1] },
    reasoningEffort: 'heroic',
    systemMessage: { mode: 'whisper', content: 'x', tone: 'low' },
    mcpServers: { one: { type: 'carrier-pigeon', coop: 3 } },
    customAgents: [{ name: 'silent', tools: null }],
    tools: [{ name: 'bad name!', later: true }],
    provider: { type: 'new', apiKey: 'k' },
  };
  expect(methods['session.create'].params().parse(unknown)).toEqual(unknown);
  expect(methods['session.resume'].params().parse(unknown)).toEqual(unknown);
});

test.each<[MethodName, unknown]>([
  ['session.resume', {}],
  ['session.send', {}],
  ['session.send', { sessionId, prompt: 42 }],
  ['session.log', { sessionId }],
  ['session.mode.set', { sessionId, mode: 'bogus' }],
  ['session.name.set', { sessionId, name: '' }],
  ['session.create', { provider: { type: 'openai' } }],
  [
    'session.permissions.handlePendingPermissionRequest',
    { sessionId, requestId: 'r', result: { kind: 'shrug' } },
  ],
])('%s leaves %j for its handler to answer', (name, params) => {
  expect(methods[name].params().safeParse(params).success).toBe(true);
});

test.each<[MethodName, unknown, string]>([
  ['session.create', { sessionId: 7 }, 'sessionId'],
  ['session.create', { tools: [{ description: 'nameless' }] }, 'tools.0.name'],
  ['session.create', { requestPermission: 'yes' }, 'requestPermission'],
  ['session.send', { sessionId, prompt: 'x', mode: 7 }, 'mode'],
  ['session.send', { sessionId, prompt: 'x', attachments: [{ type: 'file' }] }, 'attachments.0.path'],
  ['session.abort', {}, 'sessionId'],
  [
    'session.permissions.handlePendingPermissionRequest',
    { sessionId, requestId: 'r', result: 'yes' },
    'result',
  ],
  ['session.eventLog.read', { sessionId, max: 0 }, 'max'],
])('%s refuses %j and names the field', (name, params, field) => {
  const parsed = z.safeParse(methods[name].params(), params);
  expect(parsed.error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
});

test('an attachment may leave out what its path shows', () => {
  const attachments = [
    { type: 'file', path: '/project/a.ts' },
    { type: 'directory', path: '/work', displayName: null },
    { type: 'selection', filePath: '/project/a.ts', displayName: 'a.ts' },
    { type: 'blob', mimeType: 'image/png', data: 'AAAA' },
    { type: 'github_url', url: 'https://example.com' },
  ];
  const params = { sessionId, prompt: 'look', attachments };
  expect(methods['session.send'].params().parse(params)).toEqual(params);
});

test('types follow from the table', () => {
  const send: Params<Methods['session.send']> = { sessionId, prompt: 'x', attachments: [] as const };
  const parsed: ParsedParams<Methods['session.mode.set']> = { sessionId, mode: 'any text' };
  const mode: Result<Methods['session.mode.get']> = 'autopilot';
  // @ts-expect-error a misspelt field does not compile
  const wrong: Params<Methods['session.destroy']> = { sessionID: sessionId };
  // @ts-expect-error a wrong value does not compile
  const bogus: Result<Methods['session.mode.get']> = 'bogus';
  expect([send.prompt, parsed.mode, mode, wrong, bogus]).toHaveLength(5);
});

function createParams() {
  return {
    sessionId,
    toolFilterPrecedence: 'excluded',
    requestPermission: true,
    requestUserInput: false,
    hooks: false,
    includeSubAgentStreamingEvents: true,
    envValueMode: 'direct',
    tools: [
      { name: 'get_secret', description: 'Tells', parameters: { type: 'object' }, skipPermission: true },
    ],
    provider: { type: 'anthropic', baseUrl: 'https://example.com', apiKey: 'k', headers: { 'x-a': 'b' } },
    systemMessage: { mode: 'customize', sections: { environment_context: { action: 'remove' } } },
    mcpServers: { files: { type: 'local', command: 'files', args: [], tools: ['*'] } },
    infiniteSessions: { enabled: true, backgroundCompactionThreshold: 0.8 },
  };
}

function openedSession() {
  return {
    sessionId,
    nativeSessionId: sessionId,
    startTime: '2026-01-02T03:04:05.678Z',
    isRemote: false,
    mode: 'interactive',
    workspacePath: '/home/session-state/1',
    capabilities: { ui: { elicitation: false, mcpApps: false, canvases: false }, extensions: false },
  };
}

function metadata() {
  return {
    sessionId,
    startTime: '2026-01-02T03:04:05.678Z',
    modifiedTime: '2026-01-02T03:04:06.678Z',
    isRemote: false,
    isDetached: false,
    summary: 'What is 1+1?',
    clientName: 'sdk',
    context: { cwd: '/work', branch: 'main' },
  };
}

function startEvent() {
  return {
    id: 'a7b0f0a4-6f0e-4d6f-9a54-7a0f5f3f2b10',
    timestamp: '2026-01-02T03:04:05.678Z',
    parentId: null,
    type: 'session.start',
    data: { sessionId },
  };
}

const served = [
  'account.getAllUsers',
  'account.getCurrentAuth',
  'account.getQuota',
  'account.login',
  'account.logout',
  'agentRegistry.spawn',
  'agents.discover',
  'agents.getDiscoveryPaths',
  'auth.getStatus',
  'connect',
  'instructions.discover',
  'instructions.getDiscoveryPaths',
  'llmInference.httpResponseChunk',
  'llmInference.httpResponseStart',
  'llmInference.setProvider',
  'mcp.config.add',
  'mcp.config.disable',
  'mcp.config.enable',
  'mcp.config.list',
  'mcp.config.reload',
  'mcp.config.remove',
  'mcp.config.update',
  'mcp.discover',
  'models.list',
  'ping',
  'runtime.shutdown',
  'secrets.addFilterValues',
  'session.abort',
  'session.agent.deselect',
  'session.agent.getCurrent',
  'session.agent.list',
  'session.agent.reload',
  'session.agent.select',
  'session.commands.enqueue',
  'session.commands.execute',
  'session.commands.handlePendingCommand',
  'session.commands.invoke',
  'session.commands.list',
  'session.commands.respondToQueuedCommand',
  'session.completions.getTriggerCharacters',
  'session.completions.request',
  'session.create',
  'session.delete',
  'session.destroy',
  'session.detach',
  'session.eventLog.read',
  'session.eventLog.registerInterest',
  'session.eventLog.releaseInterest',
  'session.eventLog.tail',
  'session.extensions.sendAttachmentsToMessage',
  'session.fleet.start',
  'session.getForeground',
  'session.getLastId',
  'session.getMessages',
  'session.getMetadata',
  'session.gitHubAuth.getStatus',
  'session.gitHubAuth.setCredentials',
  'session.history.abortManualCompaction',
  'session.history.cancelBackgroundCompaction',
  'session.history.clearContext',
  'session.history.compact',
  'session.history.listRewindPoints',
  'session.history.previewRewind',
  'session.history.rewind',
  'session.history.summarizeForHandoff',
  'session.history.truncate',
  'session.instructions.getSources',
  'session.list',
  'session.log',
  'session.lsp.initialize',
  'session.mcp.apps.callTool',
  'session.mcp.apps.diagnose',
  'session.mcp.apps.getHostContext',
  'session.mcp.apps.listTools',
  'session.mcp.apps.readResource',
  'session.mcp.apps.setHostContext',
  'session.mcp.cancelSamplingExecution',
  'session.mcp.disable',
  'session.mcp.enable',
  'session.mcp.executeSampling',
  'session.mcp.headers.handlePendingHeadersRefreshRequest',
  'session.mcp.isServerRunning',
  'session.mcp.list',
  'session.mcp.listTools',
  'session.mcp.oauth.handlePendingRequest',
  'session.mcp.oauth.login',
  'session.mcp.reload',
  'session.mcp.removeGitHub',
  'session.mcp.resources.list',
  'session.mcp.resources.listTemplates',
  'session.mcp.resources.read',
  'session.mcp.restartServer',
  'session.mcp.setEnvValueMode',
  'session.mcp.startServer',
  'session.mcp.stopServer',
  'session.metadata.activity',
  'session.metadata.contextInfo',
  'session.metadata.getContextAttribution',
  'session.metadata.getContextHeaviestMessages',
  'session.metadata.isProcessing',
  'session.metadata.recomputeContextTokens',
  'session.metadata.recordContextChange',
  'session.metadata.setWorkingDirectory',
  'session.metadata.snapshot',
  'session.mode.get',
  'session.mode.set',
  'session.model.getCurrent',
  'session.model.list',
  'session.model.setReasoningEffort',
  'session.model.switchTo',
  'session.name.get',
  'session.name.set',
  'session.name.setAuto',
  'session.options.update',
  'session.permissions.configure',
  'session.permissions.folderTrust.addTrusted',
  'session.permissions.folderTrust.isTrusted',
  'session.permissions.getMode',
  'session.permissions.handlePendingPermissionRequest',
  'session.permissions.locations.addToolApproval',
  'session.permissions.locations.apply',
  'session.permissions.locations.resolve',
  'session.permissions.modifyRules',
  'session.permissions.notifyPromptShown',
  'session.permissions.paths.add',
  'session.permissions.paths.isPathWithinAllowedDirectories',
  'session.permissions.paths.isPathWithinWorkspace',
  'session.permissions.paths.list',
  'session.permissions.paths.updatePrimary',
  'session.permissions.pendingRequests',
  'session.permissions.resetSessionApprovals',
  'session.permissions.setApproveAll',
  'session.permissions.setMode',
  'session.permissions.setRequired',
  'session.permissions.urls.setUnrestrictedMode',
  'session.plan.delete',
  'session.plan.read',
  'session.plan.readSqlTodos',
  'session.plan.readSqlTodosWithDependencies',
  'session.plan.update',
  'session.provider.add',
  'session.provider.getEndpoint',
  'session.provider.update',
  'session.questions.pending',
  'session.queue.clear',
  'session.queue.pendingItems',
  'session.queue.removeMostRecent',
  'session.remote.disable',
  'session.remote.enable',
  'session.remote.notifySteerableChanged',
  'session.resume',
  'session.sandbox.disableForSession',
  'session.sandbox.getEnforcementStatus',
  'session.sandbox.grantPathForRequest',
  'session.schedule.add',
  'session.schedule.addAt',
  'session.schedule.addCron',
  'session.schedule.list',
  'session.schedule.stop',
  'session.send',
  'session.setForeground',
  'session.shell.cancelUserRequested',
  'session.shell.exec',
  'session.shell.executeUserRequested',
  'session.shell.kill',
  'session.shutdown',
  'session.skills.disable',
  'session.skills.enable',
  'session.skills.ensureLoaded',
  'session.skills.getInvoked',
  'session.skills.list',
  'session.skills.reload',
  'session.suspend',
  'session.tasks.cancel',
  'session.tasks.getCurrentPromotable',
  'session.tasks.getProgress',
  'session.tasks.list',
  'session.tasks.promoteCurrentToBackground',
  'session.tasks.promoteToBackground',
  'session.tasks.refresh',
  'session.tasks.remove',
  'session.tasks.sendMessage',
  'session.tasks.startAgent',
  'session.tasks.waitForPending',
  'session.telemetry.getEngagementId',
  'session.telemetry.setFeatureOverrides',
  'session.tools.getCurrentMetadata',
  'session.tools.handlePendingToolCall',
  'session.tools.initializeAndValidate',
  'session.tools.updateSubagentSettings',
  'session.ui.elicitation',
  'session.ui.handlePendingAutoModeSwitch',
  'session.ui.handlePendingElicitation',
  'session.ui.handlePendingExitPlanMode',
  'session.ui.handlePendingSampling',
  'session.ui.handlePendingSessionLimitsExhausted',
  'session.ui.handlePendingUserInput',
  'session.ui.registerDirectAutoModeSwitchHandler',
  'session.ui.unregisterDirectAutoModeSwitchHandler',
  'session.usage.getMetrics',
  'session.visibility.get',
  'session.visibility.set',
  'session.workspaces.autopilotObjectiveExists',
  'session.workspaces.createFile',
  'session.workspaces.deleteAutopilotObjective',
  'session.workspaces.diff',
  'session.workspaces.getWorkspace',
  'session.workspaces.listCheckpoints',
  'session.workspaces.listFiles',
  'session.workspaces.readAutopilotObjective',
  'session.workspaces.readCheckpoint',
  'session.workspaces.readFile',
  'session.workspaces.saveLargePaste',
  'session.workspaces.writeAutopilotObjective',
  'sessions.bulkDelete',
  'sessions.checkInUse',
  'sessions.close',
  'sessions.connect',
  'sessions.delete',
  'sessions.enrichMetadata',
  'sessions.findByPrefix',
  'sessions.findByTaskId',
  'sessions.fork',
  'sessions.getLastForContext',
  'sessions.getMetadata',
  'sessions.getRemoteControlStatus',
  'sessions.getSizes',
  'sessions.list',
  'sessions.listNonEmptySessionIds',
  'sessions.open',
  'sessions.pruneOld',
  'sessions.releaseLock',
  'sessions.save',
  'sessions.setRemoteControlSteering',
  'sessions.startRemoteControl',
  'sessions.stopRemoteControl',
  'sessions.transferRemoteControl',
  'skills.config.setDisabledSkills',
  'skills.config.setSkillDisabled',
  'skills.discover',
  'skills.getDiscoveryPaths',
  'status.get',
  'tools.list',
  'user.settings.get',
  'user.settings.reload',
  'user.settings.set',
];
