import { nearestName } from '@groundcrew/protocol';
import type { ClientOptions } from './client-options.js';
import type { CommandDefinition } from './commands.js';
import type { RuntimeConnection } from './connection-options.js';
import type { Tool } from './define-tool.js';
import type { HookOptions, SessionHooks } from './hooks.js';
import type { SessionListFilter } from './metadata.js';
import type { SessionFsOptions } from './session-files.js';
import type {
  AgentLimits,
  CustomAgentConfig,
  LogOptions,
  McpHttpServerConfig,
  McpStdioServerConfig,
  MessageOptions,
  ProviderConfig,
  ResumeSessionOptions,
  SandboxOptions,
  SessionOptions,
  SetModelOptions,
  SubagentOptions,
} from './session-options.js';
import type { NewAgentTask } from './task-options.js';
import type { TelemetryOptions } from './telemetry.js';
import { wireOptions } from './wire-options.js';

/** The names of an object's fields; of those with fields of their own, what these are. */
interface Names {
  readonly [name: string]: true | { readonly each: 'field' | 'item' | 'name'; readonly names: Names };
}

/** Every name that is there, and no other: a missing one does not compile. */
type NamesOf<T> = { readonly [K in keyof Required<T>]: Names[string] };

/** One sentence for each name that no option has. */
export function unknownNames(
  kind: keyof typeof optionNames,
  options: object,
): readonly { readonly option: string; readonly message: string }[] {
  return [...lookFor(options, optionNames[kind], '')].map(({ option, name, names }) => {
    const near = Object.hasOwn(renamed, name) ? renamed[name] : nearestName(name, Object.keys(names));
    const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
    return { option, message: `There is no option '${option}'${places[kind]}: it has no effect.${hint}` };
  });
}

interface Unknown {
  readonly option: string;
  readonly name: string;
  readonly names: Names;
}

function* lookFor(options: object, names: Names, path: string): Generator<Unknown> {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const known = Object.hasOwn(names, name) ? names[name] : undefined;
    if (!known && !isOfClass(options)) yield { option: `${path}${name}`, name, names };
    if (!known || known === true || typeof value !== 'object' || value === null) continue;
    const inside: readonly unknown[] = known.each === 'field' ? [value] : Object.values(value);
    for (const each of inside)
      if (typeof each === 'object' && each !== null) yield* lookFor(each, known.names, `${path}${name}.`);
  }
}

/** An object of a class, such as one with hooks for methods, has fields for itself. */
function isOfClass(options: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(options);
  return typeof prototype === 'object' && prototype !== null && Object.getPrototypeOf(prototype) !== null;
}

/** Fields of the wire that the SDK fills in itself. */
const ofTheWire = [
  'sessionId',
  'traceparent',
  'tracestate',
  'requestPermission',
  'requestUserInput',
  'requestExitPlanMode',
  'requestAutoModeSwitch',
  'toolFilterPrecedence',
  'envValueMode',
] as const;

const field = (names: Names) => ({ each: 'field', names }) as const;
const item = (names: Names) => ({ each: 'item', names }) as const;

const provider: NamesOf<ProviderConfig> = {
  ...wireOptions.provider.names,
  bearerTokenProvider: true,
};

const tool: NamesOf<Tool> = {
  name: true,
  description: true,
  parameters: true,
  overridesBuiltInTool: true,
  actsForBuiltIn: true,
  skipPermission: true,
  readOnly: true,
  defer: true,
  isTerminal: true,
  metadata: true,
  handler: true,
};

const command: NamesOf<CommandDefinition> = { name: true, description: true, handler: true };

const hooks: NamesOf<SessionHooks> = {
  onPreToolUse: true,
  onPreMcpToolCall: true,
  onPostToolUse: true,
  onPostToolUseFailure: true,
  onUserPromptSubmitted: true,
  onUserPromptTransformed: true,
  onSessionStart: true,
  onSessionEnd: true,
  onErrorOccurred: true,
  onAgentStop: true,
  onSubagentStart: true,
  onSubagentStop: true,
};

const hookOptions: NamesOf<HookOptions> = { timeoutMs: true, onFailure: true, stopBlocks: true };

const mcpServer: NamesOf<McpStdioServerConfig & Omit<McpHttpServerConfig, 'type'>> = {
  type: true,
  command: true,
  args: true,
  env: true,
  workingDirectory: true,
  tools: true,
  excludeTools: true,
  timeout: true,
  trusted: true,
  deferTools: true,
  displayName: true,
  cwd: true,
  url: true,
  headers: true,
  oauthClientId: true,
  oauthPublicClient: true,
  oauthGrantType: true,
  auth: field({ redirectPort: true }),
  headersRefreshTtlMs: true,
};

const sandbox: NamesOf<SandboxOptions> = {
  executor: true,
  network: true,
  writablePaths: true,
  readOnlyPaths: true,
  deniedPaths: true,
};

const agentLimits: NamesOf<AgentLimits> = {
  maxTokens: true,
  maxCalls: true,
  maxCost: true,
  maxSeconds: true,
};

const subagents: NamesOf<SubagentOptions> = {
  agents: { each: 'name', names: { model: true, effortLevel: true, limits: field(agentLimits) } },
  disabledSubagents: true,
  maxConcurrency: true,
  maxDepth: true,
  limits: field(agentLimits),
  treeLimits: field(agentLimits),
};

const customAgent: NamesOf<CustomAgentConfig> = {
  name: true,
  displayName: true,
  description: true,
  prompt: true,
  tools: true,
  mcpServers: { each: 'name', names: mcpServer },
  infer: true,
  skills: true,
  model: true,
  reasoningEffort: true,
  limits: field(agentLimits),
};

/** What the SDK has besides what it passes on. */
const handlers = {
  onPermissionRequest: true,
  onUserInputRequest: true,
  onExitPlanModeRequest: true,
  onAutoModeSwitchRequest: true,
  onElicitationRequest: true,
  onSessionLimitsRequest: true,
  onEvent: true,
} as const;

const passedOn = Object.fromEntries(
  Object.entries(wireOptions).filter(([name]) => !ofTheWire.some((each) => each === name)),
);

const session = {
  ...passedOn,
  ...handlers,
  provider: field(provider),
  providers: item({ ...provider, name: true }),
  tools: item(tool),
  commands: item(command),
  hooks: field(hooks),
  hookOptions: field(hookOptions),
  mcpServers: { each: 'name', names: mcpServer } as const,
  customAgents: item(customAgent),
  subagents: field(subagents),
  sandbox: field(sandbox),
} as unknown as NamesOf<ResumeSessionOptions>;

const create: NamesOf<SessionOptions & ResumeSessionOptions> = { ...session, sessionId: true };

const sessionFs: NamesOf<SessionFsOptions> = {
  sessionStatePath: true,
  initialCwd: true,
  conventions: true,
  sqlite: true,
  open: true,
};

const connections: Readonly<Record<RuntimeConnection['kind'], Names>> = {
  stdio: { kind: true, path: true, args: true },
  tcp: { kind: true, path: true, args: true, port: true, connectionToken: true },
  uri: { kind: true, url: true, connectionToken: true },
  inprocess: { kind: true },
  channel: { kind: true, open: true, connectionToken: true },
};

const telemetry: NamesOf<TelemetryOptions> = {
  otlpEndpoint: true,
  otlpProtocol: true,
  filePath: true,
  exporterType: true,
  sourceName: true,
  captureContent: true,
};

const client: NamesOf<ClientOptions> = {
  connection: true,
  workingDirectory: true,
  baseDirectory: true,
  env: true,
  logLevel: true,
  gitHubToken: true,
  useLoggedInUser: true,
  sessionIdleTimeoutSeconds: true,
  onModelRequest: true,
  sessionFs: field(sessionFs),
  telemetry: field(telemetry),
  getTraceContext: true,
  onHandlerError: true,
  onWarning: true,
  reconnectTimeout: true,
  onConnectionLost: true,
  onReconnected: true,
};

const message: NamesOf<MessageOptions> = {
  prompt: true,
  displayPrompt: true,
  attachments: true,
  mode: true,
  agentMode: true,
  requestHeaders: true,
  headerMergeStrategy: true,
  messageId: true,
  output: true,
};

const model: NamesOf<SetModelOptions> = {
  reasoningEffort: true,
  reasoningSummary: true,
  verbosity: true,
  contextTier: true,
  modelCapabilities: wireOptions.modelCapabilities,
  requireAvailable: true,
};

const log: NamesOf<LogOptions> = { level: true, type: true, ephemeral: true, url: true, tip: true };

const list: NamesOf<SessionListFilter> = {
  workingDirectory: true,
  gitRoot: true,
  repository: true,
  branch: true,
};

const task: NamesOf<NewAgentTask> = {
  agentType: true,
  prompt: true,
  name: true,
  description: true,
  model: true,
};

const optionNames = {
  client,
  create,
  resume: session,
  send: message,
  setModel: model,
  updateProvider: provider,
  log,
  list,
  agents: { includeBuiltIn: true },
  task,
  ...connections,
} as const satisfies Readonly<Record<string, Names>>;

const places: Readonly<Record<keyof typeof optionNames, string>> = {
  client: ' of Client',
  create: ' of createSession',
  resume: ' of resumeSession',
  send: ' of send',
  setModel: ' of setModel',
  updateProvider: ' of updateProvider',
  log: ' of log',
  list: ' of listSessions',
  agents: ' of agents.list',
  task: ' of tasks.start',
  stdio: ' of RuntimeConnection.forStdio',
  tcp: ' of RuntimeConnection.forTcp',
  uri: ' of RuntimeConnection.forUri',
  inprocess: ' of RuntimeConnection.forInProcess',
  channel: ' of RuntimeConnection.forChannel',
};

/** What the official SDK calls otherwise. */
const renamed: Readonly<Record<string, string>> = {
  configDirectory: 'configDir',
  suppressResumeEvent: 'disableResume',
  onGetTraceContext: 'getTraceContext',
  requestHandler: 'onModelRequest',
  requestPermission: 'onPermissionRequest',
  requestUserInput: 'onUserInputRequest',
  requestExitPlanMode: 'onExitPlanModeRequest',
  requestAutoModeSwitch: 'onAutoModeSwitchRequest',
  enableExperimentalMode: 'isExperimentalMode',
  enableMcpApps: 'requestMcpApps',
  onExitPlanMode: 'onExitPlanModeRequest',
  onAutoModeSwitch: 'onAutoModeSwitchRequest',
  onElicitation: 'onElicitationRequest',
  onUserInput: 'onUserInputRequest',
  onPermission: 'onPermissionRequest',
};
