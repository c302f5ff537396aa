import type { Params } from '../define.js';
import type { Methods } from '../methods/catalog.js';
import { list, map, object, refused, type SupportOf, unused, used, words } from './support.js';

type Create = Params<Methods['session.create']>;
type Resume = Params<Methods['session.resume']>;
type Update = Params<Methods['session.options.update']>;
type Switch = Params<Methods['session.model.switchTo']>;
type Fields<T> = NonNullable<T>;

const noHost = 'it is for a service around the Copilot CLI that this runtime is no part of.';
const noManagedRules =
  "rules of clients do not hold in this version. Put them into 'permissions.json' of the home.";

const vision: SupportOf<Fields<Fields<Fields<Create['modelCapabilities']>['limits']>['vision']>> = {
  supported_media_types: used,
  max_prompt_images: used,
  max_prompt_image_size: used,
};

const capabilities: SupportOf<Fields<Create['modelCapabilities']>> = {
  supports: object({
    vision: used,
    reasoningEffort: used,
    adaptive_thinking: unused('this version decides by the name of the model how it thinks.'),
  } satisfies SupportOf<Fields<Fields<Create['modelCapabilities']>['supports']>>),
  limits: object({
    max_prompt_tokens: used,
    max_output_tokens: used,
    max_context_window_tokens: used,
    vision: object(vision),
  } satisfies SupportOf<Fields<Fields<Create['modelCapabilities']>['limits']>>),
};

const provider: SupportOf<Fields<Create['provider']>> = {
  type: used,
  wireApi: used,
  transport: used,
  baseUrl: used,
  apiKey: used,
  bearerToken: used,
  hasBearerTokenProvider: used,
  azure: object({ apiVersion: used }),
  headers: used,
  providerName: unused("only 'session.provider.update' goes by it."),
  modelId: used,
  wireModel: used,
  modelCapabilities: object(capabilities),
  maxPromptTokens: used,
  maxContextWindowTokens: used,
  maxOutputTokens: used,
};

const providers: SupportOf<Fields<Create['providers']>[number]> = { ...provider, name: used };

const models: SupportOf<Fields<Create['models']>[number]> = {
  id: used,
  provider: used,
  wireModel: used,
  modelId: used,
  name: used,
  maxPromptTokens: used,
  maxContextWindowTokens: used,
  maxOutputTokens: used,
  capabilities: object(capabilities),
};

const tools: SupportOf<Fields<Create['tools']>[number]> = {
  name: used,
  description: used,
  parameters: used,
  overridesBuiltInTool: used,
  actsForBuiltIn: used,
  skipPermission: used,
  readOnly: used,
  checksArguments: used,
  defer: words('auto', 'never'),
  metadata: unused('nothing in this version reads it.'),
  isTerminal: unused('a call of the tool does not end the turn in this version.'),
};

const mcpServer: SupportOf<Fields<Create['mcpServers']>[string]> = {
  type: words('local', 'stdio', 'http', 'sse', 'streamable-http', 'streamableHttp'),
  command: used,
  args: used,
  env: used,
  cwd: used,
  url: used,
  headers: used,
  tools: used,
  excludeTools: used,
  timeout: used,
  trusted: used,
  deferTools: words('auto', 'never'),
  displayName: unused('servers go by their names.'),
  oauthClientId: used,
  oauthPublicClient: used,
  oauthGrantType: words('authorization_code', 'client_credentials'),
  auth: object({ redirectPort: used }),
  headersRefreshTtlMs: used,
};

/** Which model answers, and how. */
const modelOptions = {
  model: used,
  reasoningEffort: used,
  reasoningSummary: words('none', 'concise', 'detailed'),
  verbosity: words('low', 'medium', 'high'),
  contextTier: unused('the model has the window that its service gives it.', 'default'),
  modelCapabilities: object(capabilities),
  provider: object(provider),
  providers: list(providers),
  models: list(models),
  capi: object({ enableWebSocketResponses: used }),
  gitHubToken: used,
  gitHubTokenProviderRegistrationId: used,
} as const;

const filterOptions = {
  availableTools: used,
  excludedTools: used,
  toolFilterPrecedence: words('excluded', 'available'),
} as const;

type Sandbox = Fields<Create['sandboxConfig']>;
type SandboxPolicy = Fields<Sandbox['userPolicy']>;

/** What a sandbox cannot hold is refused, and what changes nothing is warned about, by the handler of its own. */
const sandboxOptions = {
  sandbox: used,
  sandboxConfig: object({
    enabled: used,
    addCurrentWorkingDirectory: used,
    allowDevToolAccess: used,
    auth: object({ git: used, gh: used } satisfies SupportOf<Fields<Sandbox['auth']>>),
    userPolicy: object({
      filesystem: object({
        readwritePaths: used,
        readonlyPaths: used,
        deniedPaths: used,
        clearPolicyOnExit: used,
      } satisfies SupportOf<Fields<SandboxPolicy['filesystem']>>),
      network: object({
        allowOutbound: used,
        allowLocalNetwork: used,
        proxy: used,
      } satisfies SupportOf<Fields<SandboxPolicy['network']>>),
      seatbelt: object({ keychainAccess: used }),
      experimental: object({ seatbelt: object({ keychainAccess: used }) }),
    } satisfies SupportOf<SandboxPolicy>),
  } satisfies SupportOf<Sandbox>),
} as const;

/** What becomes of each field of `session.create`. */
export const createOptions: SupportOf<Create> = {
  sessionId: used,
  clientName: used,
  traceparent: used,
  tracestate: used,
  requestPermission: used,
  requestUserInput: used,
  requestElicitation: used,
  requestMcpApps: used,
  requestExitPlanMode: used,
  requestAutoModeSwitch: used,
  hooks: used,
  hookOptions: object({ timeoutMs: used, onFailure: used, types: used, stopBlocks: used }),
  ...sandboxOptions,
  streaming: used,
  includeSubAgentStreamingEvents: used,
  enableGitHubTelemetryForwarding: used,
  commands: list({ name: used, description: used }),
  ...modelOptions,
  tools: list(tools),
  toolSearch: object({ enabled: used, deferThreshold: used }),
  ...filterOptions,
  largeOutput: object({ enabled: used, maxSizeBytes: used, outputDir: used }),
  mcpServers: map(mcpServer),
  disabledMcpServers: used,
  mcpOAuthTokenStorage: words('in-memory', 'persistent'),
  envValueMode: words('direct', 'indirect'),
  agent: used,
  customAgents: list({
    name: used,
    displayName: used,
    description: used,
    tools: used,
    prompt: used,
    mcpServers: map(mcpServer),
    infer: used,
    skills: used,
    model: used,
    reasoningEffort: used,
    limits: object({ maxTokens: used, maxCalls: used, maxCost: used, maxSeconds: used }),
  }),
  subagents: used,
  customAgentsLocalOnly: unused('all agents are of this machine.', true),
  defaultAgent: object({ excludedTools: used }),
  excludedBuiltinAgents: used,
  systemMessage: object({
    mode: words('append', 'replace', 'customize'),
    content: used,
    sections: map({
      action: words('replace', 'append', 'prepend', 'remove', 'preserve', 'transform'),
      content: used,
    }),
  }),
  instructionDirectories: used,
  organizationCustomInstructions: used,
  skipCustomInstructions: used,
  enableOnDemandInstructionDiscovery: unused(
    'files of instructions are read before each model call, and those for some files name these files.',
  ),
  enableSkills: used,
  skillDirectories: used,
  disabledSkills: used,
  pluginDirectories: used,
  workingDirectory: used,
  additionalDirectories: used,
  configDir: used,
  enableConfigDiscovery: used,
  enableFileHooks: used,
  providerRef: used,
  nodeLabels: used,
  titles: used,
  enableHostGitOperations: unused(
    'the runtime looks up the repository anyway, and changes it by tools only.',
  ),
  enableSessionStore: unused('sessions cannot look into one another.'),
  enableSessionTelemetry: used,
  enableCitations: used,
  enableFileChangeTracking: used,
  isExperimentalMode: unused('this version has no experiments.'),
  skipEmbeddingRetrieval: unused('this version makes no embeddings.', true),
  embeddingCacheStorage: unused('this version makes no embeddings.', 'in-memory'),
  infiniteSessions: object({
    enabled: used,
    backgroundCompactionThreshold: used,
    bufferExhaustionThreshold: used,
  }),
  memory: unused('this version remembers nothing from one session to another.'),
  sessionLimits: object({ maxAiCredits: used, maxCost: used, maxTokens: used, maxCalls: used }),
  canvases: list({
    id: used,
    displayName: used,
    description: used,
    icon: used,
    inputSchema: used,
    actions: list({ name: used, description: used, inputSchema: used }),
  }),
  canvasProvider: object({ id: used, name: used }),
  openCanvases: unused("the session's own record says which canvases are open."),
  requestCanvasRenderer: used,
  requestExtensions: used,
  extensionSdkPath: used,
  extensionInfo: unused('an extension goes by the name of its directory.'),
  remoteSession: unused(noHost),
  cloud: unused(noHost),
  expAssignments: unused(noHost),
  enableManagedSettings: unused(noHost),
  managedSettings: object({
    permissions: object({
      deny: refused(noManagedRules),
      ask: refused(noManagedRules),
      disableBypassPermissionsMode: refused(noManagedRules),
      allow: unused(noManagedRules),
    }),
  }),
  githubMcpToolConfig: object({
    enableAllTools: used,
    additionalToolsets: used,
    additionalTools: used,
    enableInsidersMode: used,
    disableFormDeferral: unused('forms of servers are shown when they come.'),
  }),
};

/** What becomes of each field of `session.resume`. */
export const resumeOptions: SupportOf<Resume> = {
  ...createOptions,
  disableResume: used,
  continuePendingWork: used,
  takeOver: used,
  waiveHooks: used,
  factories: list({ name: used, description: used }),
  workflows: list({ name: used, description: used, phases: list({ title: used, detail: used }) }),
  requestedEnvironmentVariables: unused('clients are not sent the environment.'),
};

/** What becomes of each field of `session.tools.set`. */
export const toolsSetOptions: SupportOf<Params<Methods['session.tools.set']>> = {
  sessionId: used,
  tools: list(tools),
};

/** What becomes of each field of `session.options.update`. */
export const updateOptions: SupportOf<Update> = {
  sessionId: used,
  ...modelOptions,
  ...filterOptions,
  clientName: used,
  workingDirectory: used,
  sessionLimits: createOptions.sessionLimits,
  enableStreaming: used,
  askUserDisabled: used,
  skipCustomInstructions: used,
  customAgentsLocalOnly: unused('all agents are of this machine.', true),
  excludedBuiltinAgents: used,
  coauthorEnabled: unused('this version adds no co-author to commits.'),
  manageScheduleEnabled: unused('the agent has no tool for schedules; clients manage them.', false),
  installedPlugins: unused("the home says which plugins are installed: use 'plugins.install'."),
  skillDirectories: used,
  disabledSkills: used,
  ...sandboxOptions,
  additionalContentExclusionPolicies: refused(noManagedRules),
};

/** What becomes of each field of `session.model.switchTo`. */
export const switchOptions: SupportOf<Switch> = {
  sessionId: used,
  modelId: used,
  reasoningEffort: used,
  reasoningSummary: modelOptions.reasoningSummary,
  verbosity: modelOptions.verbosity,
  contextTier: modelOptions.contextTier,
  modelCapabilities: modelOptions.modelCapabilities,
  source: unused("the change is recorded as one of 'sdk'.", 'sdk'),
  requireAvailable: unused('a model that no service has gets a warning, and is asked for all the same.'),
};

/** What becomes of each field of `session.provider.add`. */
export const providerAddOptions: SupportOf<Params<Methods['session.provider.add']>> = {
  sessionId: used,
  providers: list(providers),
  models: list(models),
};

/** What becomes of each field of `session.provider.update`. */
export const providerUpdateOptions: SupportOf<Params<Methods['session.provider.update']>> = {
  sessionId: used,
  provider: object({ ...provider, providerName: used }),
};
