import * as z from 'zod';
import { modelCapabilitiesOverride, namedProviderConfig, providerConfig, providerModel } from './model.js';
import { once, openEnum, openObject } from './schema.js';

/**
 * What `session.create` and `session.resume` may say. Everything is optional, unknown fields and values pass through:
 * clients of many ages share one runtime, and a setting it does not know must not keep a session from opening.
 * The first session pays for building this schema: fields of one sort share one, entries of lists wait until one comes.
 */
export const sessionConfig = () => ({
  clientName: text(),
  traceparent: text(),
  tracestate: text(),
  ...clientFields(),
  ...modelFields(),
  ...toolFields(),
  ...agentFields(),
  ...instructionFields(),
  ...placeFields(),
  ...featureFields(),
  ...hostFields(),
});

/** What this connection shows, answers and wants to hear. */
const clientFields = () => ({
  requestPermission: flag(),
  requestUserInput: flag(),
  requestElicitation: flag(),
  requestMcpApps: flag(),
  requestExitPlanMode: flag(),
  requestAutoModeSwitch: flag(),
  hooks: flag(),
  streaming: flag(),
  includeSubAgentStreamingEvents: flag(),
  enableGitHubTelemetryForwarding: flag(),
  commands: z.array(z.lazy(clientCommand)).optional(),
});

const clientCommand = once(() => openObject({ name: z.string(), description: textOrNull() }));

/** Which model answers, and how. */
export const modelFields = () => ({
  model: text(),
  reasoningEffort: openEnum(['low', 'medium', 'high', 'xhigh', 'max']).optional(),
  reasoningSummary: openEnum(['none', 'concise', 'detailed']).optional(),
  verbosity: openEnum(['low', 'medium', 'high']).optional(),
  contextTier: openEnum(['default', 'long_context']).optional(),
  modelCapabilities: modelCapabilitiesOverride().optional(),
  provider: providerConfig().optional(),
  providers: z.array(z.lazy(namedProviderConfig)).optional(),
  models: z.array(z.lazy(providerModel)).optional(),
  capi: capiOptions().optional(),
  gitHubToken: text(),
});

const capiOptions = once(() => openObject({ enableWebSocketResponses: flagOrNull() }));

/** Which tools there are, and which of them the model sees. */
const toolFields = () => ({
  tools: z.array(z.lazy(clientTool)).optional(),
  toolSearch: toolSearch().optional(),
  ...toolFilterFields(),
  largeOutput: largeOutput().optional(),
  mcpServers: z.record(z.string(), z.lazy(mcpServer)).optional(),
  disabledMcpServers: texts(),
  mcpOAuthTokenStorage: openEnum(['in-memory']).optional(),
  envValueMode: openEnum(['direct', 'indirect']).optional(),
});

const toolSearch = once(() =>
  openObject({
    enabled: flagOrNull(),
    deferThreshold: numberOrNull(),
  }),
);

const largeOutput = once(() =>
  openObject({
    enabled: flagOrNull(),
    maxSizeBytes: numberOrNull(),
    outputDir: textOrNull(),
  }),
);

/** Which tools the model sees. */
export const toolFilterFields = () => ({
  availableTools: texts(),
  excludedTools: texts(),
  /** With `excluded`, exclusion wins; without it, `excludedTools` is ignored when `availableTools` is given. */
  toolFilterPrecedence: openEnum(['excluded', 'available']).optional(),
});

/** Names are checked by the handler, whose text clients know. */
const clientTool = once(() =>
  openObject({
    name: z.string(),
    description: textOrNull(),
    /** A JSON Schema. */
    parameters: z.record(z.string(), z.unknown()).nullish(),
    overridesBuiltInTool: flagOrNull(),
    skipPermission: flagOrNull(),
    defer: anything(),
    metadata: z.record(z.string(), z.unknown()).nullish(),
    isTerminal: flagOrNull(),
  }),
);

const mcpServer = once(() =>
  openObject({
    type: openEnum(['local', 'stdio', 'http', 'sse']).nullish(),
    command: textOrNull(),
    args: textsOrNull(),
    env: z.record(z.string(), z.string()).nullish(),
    cwd: textOrNull(),
    url: textOrNull(),
    headers: z.record(z.string(), z.string()).nullish(),
    tools: textsOrNull(),
    timeout: numberOrNull(),
  }),
);

/** Who works: the chosen agent, and those it may ask. */
const agentFields = () => ({
  agent: text(),
  customAgents: z.array(z.lazy(customAgent)).optional(),
  customAgentsLocalOnly: flag(),
  defaultAgent: defaultAgent().optional(),
  excludedBuiltinAgents: texts(),
});

const customAgent = once(() =>
  openObject({
    name: z.string(),
    displayName: textOrNull(),
    description: textOrNull(),
    /** Null or absent: every tool. */
    tools: textsOrNull(),
    prompt: textOrNull(),
    mcpServers: z.record(z.string(), z.lazy(mcpServer)).nullish(),
    infer: flagOrNull(),
    skills: textsOrNull(),
    model: textOrNull(),
    reasoningEffort: textOrNull(),
  }),
);

const defaultAgent = once(() => openObject({ excludedTools: textsOrNull() }));

/** What the model is told before the first prompt. */
const instructionFields = () => ({
  systemMessage: systemMessage().optional(),
  instructionDirectories: texts(),
  organizationCustomInstructions: text(),
  enableOnDemandInstructionDiscovery: flag(),
  enableSkills: flag(),
  skillDirectories: texts(),
  disabledSkills: texts(),
  pluginDirectories: texts(),
});

const systemMessageSection = once(() =>
  openObject({
    action: openEnum(['replace', 'append', 'prepend', 'remove', 'preserve', 'transform']).nullish(),
    content: textOrNull(),
  }),
);

const systemMessage = once(() =>
  openObject({
    mode: openEnum(['append', 'replace', 'customize']).nullish(),
    content: textOrNull(),
    sections: z.record(z.string(), systemMessageSection()).nullish(),
  }),
);

/** Where the session works and keeps its files. */
const placeFields = () => ({
  workingDirectory: text(),
  additionalDirectories: texts(),
  configDir: text(),
});

/** What is switched on or off, and the limits. */
const featureFields = () => ({
  enableConfigDiscovery: flag(),
  enableFileHooks: flag(),
  enableHostGitOperations: flag(),
  enableSessionStore: flag(),
  enableSessionTelemetry: flag(),
  enableCitations: flag(),
  enableFileChangeTracking: flag(),
  isExperimentalMode: flag(),
  skipEmbeddingRetrieval: flag(),
  embeddingCacheStorage: text(),
  infiniteSessions: infiniteSessions().optional(),
  memory: memory().optional(),
  sessionLimits: sessionLimits().optional(),
});

const infiniteSessions = once(() =>
  openObject({
    enabled: flagOrNull(),
    backgroundCompactionThreshold: numberOrNull(),
    bufferExhaustionThreshold: numberOrNull(),
  }),
);

const memory = once(() => openObject({ enabled: flagOrNull() }));

const sessionLimits = once(() => openObject({ maxAiCredits: numberOrNull() }));

/** For hosts with a surface of their own; taken as they come. */
const hostFields = () => ({
  canvases: anything(),
  canvasProvider: anything(),
  openCanvases: anything(),
  requestCanvasRenderer: anything(),
  requestExtensions: anything(),
  extensionSdkPath: anything(),
  extensionInfo: anything(),
  remoteSession: anything(),
  cloud: anything(),
  expAssignments: anything(),
  enableManagedSettings: anything(),
  managedSettings: anything(),
  githubMcpToolConfig: anything(),
});

const text = once(() => z.string().optional());
const flag = once(() => z.boolean().optional());
const texts = once(() => z.array(z.string()).optional());
const anything = once(() => z.unknown().optional());
const textOrNull = once(() => z.string().nullish());
const flagOrNull = once(() => z.boolean().nullish());
const numberOrNull = once(() => z.number().nullish());
const textsOrNull = once(() => z.array(z.string()).nullish());
