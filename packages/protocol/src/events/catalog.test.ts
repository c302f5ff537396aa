import { expect, test } from 'vitest';
import {
  type DurableType,
  type EphemeralType,
  type EventData,
  type EventType,
  events,
  isDurable,
  type SessionEvent,
} from './catalog.js';
import { eventEnvelope } from './envelope.js';

const requestId = 'cf75ebd5-0c51-4a39-9f0b-6a3d7a3c1e55';
const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 };

test('exactly these events never enter the log', () => {
  const types = Object.keys(events) as EventType[];
  expect(types.filter((type) => !isDurable(type)).sort()).toEqual(ephemeralTypes);
});

test('exactly these events enter the log', () => {
  const types = Object.keys(events) as EventType[];
  expect(types.filter(isDurable).sort()).toEqual(durableTypes);
});

test.each<[EventType, unknown]>([
  ['session.start', startData()],
  [
    'session.resume',
    {
      resumeTime: '2026-01-02T03:04:05.678Z',
      eventCount: 12,
      contextTier: null,
      sessionLimits: null,
      context: { cwd: '/work' },
      alreadyInUse: false,
      sessionWasActive: false,
    },
  ],
  [
    'user.message',
    {
      content: 'What is 1+1?',
      transformedContent: '<current_datetime>now</current_datetime> What is 1+1?',
      delivery: 'idle',
      interactionId: 'i1',
      turnId: '0',
      messageId: 'm1',
      attachments: [
        { type: 'file', path: '/project/a.ts', displayName: 'a.ts', lineRange: { start: 1, end: 2 } },
      ],
    },
  ],
  ['assistant.turn_start', { turnId: '0', interactionId: 'i1' }],
  ['assistant.message_delta', { messageId: 'a1', deltaContent: '1+1' }],
  [
    'assistant.message',
    {
      messageId: 'a1',
      content: '',
      model: 'large',
      toolRequests: [
        {
          toolCallId: 'c1',
          name: 'view',
          arguments: { path: 'a.ts' },
          type: 'function',
          intentionSummary: null,
        },
      ],
      interactionId: 'i1',
      turnId: '0',
      rte: false,
    },
  ],
  [
    'assistant.usage',
    { model: 'large', ...usage, cost: 1, duration: 20, initiator: 'user', apiEndpoint: '/responses' },
  ],
  [
    'tool.execution_start',
    {
      toolCallId: 'c1',
      toolName: 'bash',
      arguments: { command: 'ls' },
      shellToolInfo: { possiblePaths: [], hasWriteFileRedirection: false },
    },
  ],
  [
    'tool.execution_complete',
    {
      toolCallId: 'c1',
      success: true,
      result: {
        content: 'a.ts',
        detailedContent: 'a.ts',
        contents: [{ type: 'shell_exit', shellId: 's1', exitCode: 0, cwd: '/work' }],
        binaryResultsForLlm: [{ type: 'image', mimeType: 'image/png', assetId: 'x', byteLength: 4 }],
      },
    },
  ],
  ['tool.execution_complete', { toolCallId: 'c1', success: false, error: { message: 'no', code: 'denied' } }],
  [
    'external_tool.requested',
    { requestId, sessionId: 's', toolCallId: 'c1', toolName: 'get_secret', arguments: { key: 'ALPHA' } },
  ],
  [
    'permission.requested',
    {
      requestId,
      permissionRequest: {
        kind: 'shell',
        fullCommandText: 'git status',
        intention: 'Look',
        commands: [{ identifier: 'git status', readOnly: true }],
        possiblePaths: [],
        possibleUrls: [{ url: 'https://example.com' }],
        hasWriteFileRedirection: false,
        canOfferSessionApproval: true,
        toolCallId: 'c1',
      },
      promptRequest: {
        kind: 'commands',
        fullCommandText: 'git status',
        intention: 'Look',
        commandIdentifiers: ['git status'],
        canOfferSessionApproval: true,
      },
    },
  ],
  [
    'permission.requested',
    {
      requestId,
      permissionRequest: { kind: 'mcp', serverName: 'm', toolName: 'm-t', toolTitle: 'T', readOnly: true },
      promptRequest: { kind: 'mcp', serverName: 'm', toolName: 'm-t', toolTitle: 'T' },
    },
  ],
  ['permission.completed', { requestId, toolCallId: 'c1', result: { kind: 'approved' } }],
  ['permission.completed', { requestId, result: { kind: 'denied-interactively-by-user', feedback: 'no' } }],
  ['abort', { reason: 'subagent_cancelled' }],
  ['session.error', { errorType: 'query', message: '400 bad request', statusCode: 400 }],
  [
    'session.compaction_complete',
    { success: true, compactionTokensUsed: { inputTokens: 1, outputTokens: 2 }, trigger: 'manual' },
  ],
  [
    'system.notification',
    { content: 'done', kind: { type: 'agent_idle', agentId: 'a', agentType: 'task', displayName: 'A' } },
  ],
  [
    'session.shutdown',
    {
      shutdownType: 'routine',
      totalApiDurationMs: 20,
      sessionStartTime: 1767323045678,
      codeChanges: { linesAdded: 1, linesRemoved: 0, filesModified: ['a.ts'] },
      modelMetrics: { large: { requests: { count: 1, cost: 1 }, usage } },
    },
  ],
  ['session.idle', { aborted: true }],
  ['pending_messages.modified', {}],
])('%s says what clients know', (type, data) => {
  expect(events[type].data().parse(data)).toEqual(data);
});

test.each<[EventType, unknown, string]>([
  ['session.start', { ...startData(), version: '1' }, 'version'],
  ['assistant.turn_end', {}, 'turnId'],
  ['abort', { reason: 'boredom' }, 'reason'],
  ['permission.completed', { requestId, result: { kind: 'maybe' } }, 'result.kind'],
  ['user.message', { content: 'x', attachments: [{ type: 'file', path: 'a' }] }, 'attachments.0.displayName'],
])('%s is not %j', (type, data, field) => {
  const parsed = events[type].data().safeParse(data);
  expect(parsed.error?.issues.map(({ path }) => path.join('.'))).toEqual([field]);
});

test('fields of later versions pass through', () => {
  const data = { aborted: false, mode: 'interactive' };
  expect(events['session.idle'].data().parse(data)).toEqual(data);
});

test('an envelope has ids that every client can read', () => {
  const event = envelope({ type: 'session.start', data: startData() });
  expect(eventEnvelope().parse(event)).toEqual(event);
  const wrong = eventEnvelope().safeParse({ ...event, id: '1', parentId: 'root', timestamp: 'today' });
  expect(wrong.error?.issues.map(({ path }) => path.join('.'))).toEqual(['id', 'timestamp', 'parentId']);
});

test('types follow from the table', () => {
  const durableType: DurableType = 'external_tool.completed';
  const ephemeralType: EphemeralType = 'assistant.message_delta';
  const data: EventData<'subagent.selected'> = {
    agentName: 'a',
    agentDisplayName: 'A',
    tools: ['x'] as const,
  };
  // @ts-expect-error an ephemeral event is not durable
  const wrongType: DurableType = 'session.idle';
  // @ts-expect-error a misspelt field does not compile
  const wrongData: EventData<'assistant.turn_end'> = { turnID: '0' };
  expect([durableType, ephemeralType, data.agentName, wrongType, wrongData]).toHaveLength(5);
});

test('the type of an event decides what its data are', () => {
  const event = envelope({
    type: 'assistant.message',
    data: { messageId: 'a1', content: 'two' },
  }) as SessionEvent;
  expect(event.type === 'assistant.message' && event.data.content).toBe('two');
});

function startData() {
  return {
    sessionId: 's',
    version: 1,
    producer: 'groundcrew',
    copilotVersion: '0.1.0',
    startTime: '2026-01-02T03:04:05.678Z',
    context: { cwd: '/work', hostType: 'github' },
  };
}

function envelope(event: { readonly type: EventType; readonly data: unknown }) {
  return { id: requestId, timestamp: '2026-01-02T03:04:05.678Z', parentId: null, ...event };
}

const ephemeralTypes = [
  'assistant.idle',
  'assistant.intent',
  'assistant.message_delta',
  'assistant.message_start',
  'assistant.reasoning_delta',
  'assistant.server_tool_progress',
  'assistant.streaming_delta',
  'assistant.tool_call_delta',
  'assistant.usage',
  'auto_mode_switch.completed',
  'auto_mode_switch.requested',
  'capabilities.changed',
  'command.completed',
  'command.execute',
  'command.queued',
  'commands.changed',
  'elicitation.completed',
  'elicitation.requested',
  'exit_plan_mode.completed',
  'exit_plan_mode.requested',
  'factory.run_settled',
  'factory.run_started',
  'factory.run_updated',
  'hook.progress',
  'mcp.headers_refresh_completed',
  'mcp.headers_refresh_required',
  'mcp.oauth_completed',
  'mcp.oauth_required',
  'mcp.prompts.list_changed',
  'mcp.resources.list_changed',
  'mcp.tools.list_changed',
  'mcp_app.tool_call_complete',
  'model.call_failure',
  'pending_messages.modified',
  'sampling.completed',
  'sampling.requested',
  'session.background_tasks_changed',
  'session.canvas.closed',
  'session.canvas.opened',
  'session.canvas.registry_changed',
  'session.canvas.unavailable',
  'session.custom_agents_updated',
  'session.custom_notification',
  'session.extensions.attachments_pushed',
  'session.extensions_loaded',
  'session.idle',
  'session.managed_settings_enforced',
  'session.managed_settings_resolved',
  'session.mcp_server_status_changed',
  'session.mcp_servers_loaded',
  'session.skills_loaded',
  'session.snapshot_rewind',
  'session.title_changed',
  'session.todos_changed',
  'session.tools_updated',
  'session.usage_info',
  'session_limits_exhausted.completed',
  'session_limits_exhausted.requested',
  'tool.execution_partial_result',
  'tool.execution_progress',
  'ui.ephemeral_query',
  'user_input.completed',
  'user_input.requested',
  'workflow.run_started',
  'workflow.run_updated',
];

const durableTypes = [
  'abort',
  'assistant.message',
  'assistant.output',
  'assistant.reasoning',
  'assistant.turn_end',
  'assistant.turn_start',
  'external_tool.completed',
  'external_tool.requested',
  'hook.end',
  'hook.start',
  'permission.completed',
  'permission.requested',
  'session.auto_mode_resolved',
  'session.autopilot_objective_changed',
  'session.binary_asset',
  'session.canvas.recorded',
  'session.canvas.removed',
  'session.compaction_complete',
  'session.compaction_start',
  'session.context_changed',
  'session.context_cleared',
  'session.error',
  'session.handoff',
  'session.info',
  'session.mode_changed',
  'session.model_change',
  'session.permissions_changed',
  'session.plan_changed',
  'session.remote_steerable_changed',
  'session.resume',
  'session.schedule_cancelled',
  'session.schedule_created',
  'session.schedule_rearmed',
  'session.session_limits_changed',
  'session.shutdown',
  'session.start',
  'session.task_complete',
  'session.truncation',
  'session.usage_checkpoint',
  'session.warning',
  'session.workspace_file_changed',
  'skill.invoked',
  'subagent.completed',
  'subagent.deselected',
  'subagent.failed',
  'subagent.selected',
  'subagent.started',
  'system.message',
  'system.notification',
  'tool.execution_complete',
  'tool.execution_start',
  'tool.user_requested',
  'tool_search.activated',
  'user.message',
];
