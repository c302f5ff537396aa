/**
 * Every name that leaves the process. The conventions for generative AI still move: what they rename is renamed here, and
 * nowhere else. Names of `github.copilot.` are those by which users of that runtime have built their dashboards.
 */
export const attributes = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  responseModel: 'gen_ai.response.model',
  responseId: 'gen_ai.response.id',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheWriteTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  systemInstructions: 'gen_ai.system_instructions',
  toolDefinitions: 'gen_ai.tool.definitions',
  agentId: 'gen_ai.agent.id',
  agentName: 'gen_ai.agent.name',
  agentDescription: 'gen_ai.agent.description',
  agentVersion: 'gen_ai.agent.version',
  toolName: 'gen_ai.tool.name',
  toolCallId: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
  exceptionType: 'exception.type',
  exceptionMessage: 'exception.message',
  serviceName: 'service.name',
  serviceVersion: 'service.version',
  serviceInstance: 'service.instance.id',
  initiator: 'github.copilot.initiator',
  turnCount: 'github.copilot.turn_count',
  interactionId: 'github.copilot.interaction_id',
  interactionType: 'github.copilot.interaction_type',
  agentType: 'github.copilot.agent.type',
  mcpServer: 'github.copilot.mcp.server.name',
  mcpTool: 'github.copilot.mcp.tool.name',
  hookType: 'github.copilot.hook.type',
  hookInvocation: 'github.copilot.hook.invocation_id',
  permissionKind: 'github.copilot.permission.kind',
  permissionTool: 'github.copilot.permission.tool_name',
  permissionResult: 'github.copilot.permission.result',
  externalName: 'github.copilot.external_tool.name',
  externalCall: 'github.copilot.external_tool.call_id',
  attempt: 'github.copilot.retry.attempt',
  retryDelay: 'github.copilot.retry.delay',
  attempts: 'github.copilot.attempts',
  aborted: 'github.copilot.aborted',
  compactionTrigger: 'github.copilot.compaction.trigger',
  compactionTokensBefore: 'github.copilot.compaction.pre_tokens',
  compactionTokensAfter: 'github.copilot.compaction.post_tokens',
  compactionMessages: 'github.copilot.compaction.messages_removed',
  success: 'success',
} as const;

/** What a span is of. */
export const operations = {
  agent: 'invoke_agent',
  chat: 'chat',
  tool: 'execute_tool',
  hook: 'execute_hook',
  permission: 'permission',
  externalTool: 'external_tool',
  compaction: 'compaction',
} as const;

/** Things that happen within a span. */
export const spanEvents = {
  retry: 'github.copilot.retry',
  exception: 'gen_ai.client.operation.exception',
} as const;

/** One thing that is counted or measured. */
export interface Instrument {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  /** Of a histogram: where its buckets end. */
  readonly bounds?: readonly number[];
}

const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const agentSeconds = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
const calls = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256];
const tokens = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** What is counted and measured. */
export const instruments = {
  operationDuration: {
    name: 'gen_ai.client.operation.duration',
    description: 'How long operations took.',
    unit: 's',
    bounds: seconds,
  },
  tokenUsage: {
    name: 'gen_ai.client.token.usage',
    description: 'Tokens that model calls took.',
    unit: '{token}',
    bounds: tokens,
  },
  timeToFirstChunk: {
    name: 'gen_ai.client.operation.time_to_first_chunk',
    description: 'How long the first piece of an answer took.',
    unit: 's',
    bounds: seconds,
  },
  agentDuration: {
    name: 'gen_ai.invoke_agent.duration',
    description: 'How long agents worked on a prompt.',
    unit: 's',
    bounds: agentSeconds,
  },
  agentCalls: {
    name: 'gen_ai.invoke_agent.inference_calls',
    description: 'Model calls of an agent for a prompt.',
    unit: '{inference_call}',
    bounds: calls,
  },
  agentTools: {
    name: 'gen_ai.invoke_agent.tool_calls',
    description: 'Tool calls of an agent for a prompt.',
    unit: '{tool_call}',
    bounds: calls,
  },
  toolDuration: {
    name: 'gen_ai.execute_tool.duration',
    description: 'How long tool calls took.',
    unit: 's',
    bounds: seconds,
  },
  toolCount: {
    name: 'github.copilot.tool.call.count',
    description: 'Tool calls by tool and outcome.',
    unit: '{call}',
  },
  toolLatency: {
    name: 'github.copilot.tool.call.duration',
    description: 'How long calls of a tool took.',
    unit: 's',
    bounds: seconds,
  },
  agentTurns: {
    name: 'github.copilot.agent.turn.count',
    description: 'Rounds with the model for a prompt.',
    unit: '{turn}',
    bounds: [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000],
  },
  retries: {
    name: 'groundcrew.model.retry.count',
    description: 'Model calls that were made again.',
    unit: '{retry}',
  },
  errors: {
    name: 'groundcrew.session.error.count',
    description: 'Errors that sessions reported.',
    unit: '{error}',
  },
  dropped: {
    name: 'groundcrew.telemetry.span.dropped',
    description: 'Spans that were not exported: the queue was full, or the collector did not take them.',
    unit: '{span}',
  },
} as const satisfies Readonly<Record<string, Instrument>>;

export type InstrumentName = keyof typeof instruments;
