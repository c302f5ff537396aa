import * as z from 'zod/mini';
import { hookTypes } from './callbacks/hook-types.js';
import { canvasDeclaration } from './canvas.js';
import {
  anything,
  flag,
  flagOrNull,
  mapOrNull,
  numberOrNull,
  text,
  textMapOrNull,
  textOrNull,
  texts,
  textsOrNull,
} from './fields.js';
import { modelCapabilitiesOverride, namedProviderConfig, providerConfig, providerModel } from './model.js';
import { once, openEnum, openObject } from './schema.js';
import { sparseObject } from './sparse-object.js';

/**
 * What `session.create` and `session.resume` may say. Everything is optional, unknown fields and values pass through:
 * clients of many ages share one runtime, and a setting it does not know must not keep a session from opening.
 */
export const sessionConfig = () => ({
  clientName: text,
  traceparent: text,
  tracestate: text,
  ...clientFields(),
  ...modelFields(),
  ...toolFields(),
  ...agentFields(),
  ...instructionFields(),
  ...placeFields(),
  ...sandboxFields(),
  ...featureFields(),
  ...hostFields(),
});

/** What this connection shows, answers and wants to receive. */
const clientFields = () => ({
  requestPermission: flag,
  requestUserInput: flag,
  requestElicitation: flag,
  requestMcpApps: flag,
  requestExitPlanMode: flag,
  requestAutoModeSwitch: flag,
  hooks: flag,
  hookOptions,
  streaming: flag,
  includeSubAgentStreamingEvents: flag,
  enableGitHubTelemetryForwarding: flag,
  commands: () => z.array(clientCommand()),
});

/** How this client's hooks are treated. */
const hookOptions = once(() =>
  sparseObject({
    /** A hook that has not answered by then has failed. */
    timeoutMs: () => z.nullish(z.int().check(z.positive(), z.maximum(24 * 60 * 60 * 1000))),
    /** What a failed hook before a tool call means. */
    onFailure: () => z.nullish(z.enum(['deny', 'allow'])),
    /** The points it has hooks for; without it, it is asked at every point. */
    types: () => z.nullish(z.array(z.enum(hookTypes))),
    /** How often its agentStop hook may keep the agent from stopping, for each prompt; 3 unless given. */
    stopBlocks: () => z.nullish(z.int().check(z.nonnegative(), z.maximum(100))),
  }),
);

const clientCommand = once(() => sparseObject({ description: textOrNull }, { name: text }));

/** Which model answers, and how. */
export const modelFields = () => ({
  model: text,
  reasoningEffort: () => openEnum(['low', 'medium', 'high', 'xhigh', 'max']),
  reasoningSummary: () => openEnum(['none', 'concise', 'detailed']),
  verbosity: () => openEnum(['low', 'medium', 'high']),
  contextTier: () => openEnum(['default', 'long_context']),
  modelCapabilities: modelCapabilitiesOverride,
  provider: providerConfig,
  providers: () => z.array(namedProviderConfig()),
  models: () => z.array(providerModel()),
  capi: capiOptions,
  gitHubToken: text,
  /** The client gives the token itself, whenever one is needed, under this name. */
  gitHubTokenProviderRegistrationId: text,
});

const capiOptions = once(() => sparseObject({ enableWebSocketResponses: flagOrNull }));

/** Which tools there are, and which of them the model sees. */
const toolFields = () => ({
  tools: () => z.array(clientTool()),
  toolSearch,
  ...toolFilterFields(),
  largeOutput,
  mcpServers: () => z.record(text(), mcpServer()),
  disabledMcpServers: texts,
  mcpOAuthTokenStorage: () => openEnum(['in-memory']),
  envValueMode: () => openEnum(['direct', 'indirect']),
});

const toolSearch = once(() =>
  sparseObject({
    enabled: flagOrNull,
    deferThreshold: numberOrNull,
  }),
);

const largeOutput = once(() =>
  sparseObject({
    enabled: flagOrNull,
    maxSizeBytes: numberOrNull,
    outputDir: textOrNull,
  }),
);

/** Which tools the model sees. */
export const toolFilterFields = () => ({
  availableTools: texts,
  excludedTools: texts,
  /** With `excluded`, exclusion wins; without it, `excludedTools` is ignored when `availableTools` is given. */
  toolFilterPrecedence: () => openEnum(['excluded', 'available']),
});

/** Names are checked by the handler, whose text clients know. */
/** A tool that a client serves. */
export const clientTool = once(() =>
  sparseObject(
    {
      description: textOrNull,
      /** A JSON Schema. */
      parameters: mapOrNull,
      overridesBuiltInTool: flagOrNull,
      /** It does the work of the built-in tool of its name, and is described, checked and judged as that. */
      actsForBuiltIn: flagOrNull,
      skipPermission: flagOrNull,
      /** Its calls change nothing: they may run in plan mode. */
      readOnly: flagOrNull,
      /** The client says by `toolArguments.check` whether arguments fit, before permission is asked for. */
      checksArguments: flagOrNull,
      defer: anything,
      metadata: mapOrNull,
      isTerminal: flagOrNull,
    },
    { name: text },
  ),
);

const mcpServer = once(() =>
  sparseObject({
    type: () => z.nullable(openEnum(['local', 'stdio', 'http', 'sse'])),
    command: textOrNull,
    args: textsOrNull,
    env: textMapOrNull,
    cwd: textOrNull,
    url: textOrNull,
    headers: textMapOrNull,
    tools: textsOrNull,
    excludeTools: textsOrNull,
    timeout: numberOrNull,
    /** The user believes what it says of its tools: those that only read run unasked. */
    trusted: flagOrNull,
    deferTools: () => z.nullable(openEnum(['auto', 'never'])),
    displayName: textOrNull,
    oauthClientId: textOrNull,
    oauthPublicClient: flagOrNull,
    oauthGrantType: () => z.nullable(openEnum(['authorization_code', 'client_credentials'])),
    auth: () => z.nullable(z.union([z.boolean(), sparseObject({ redirectPort: numberOrNull })])),
    /** A client that wants to give headers is asked for them again after so long. */
    headersRefreshTtlMs: numberOrNull,
  }),
);

/** Who works: the chosen agent, and those it may ask. */
const agentFields = () => ({
  agent: text,
  customAgents: () => z.array(customAgent()),
  customAgentsLocalOnly: flag,
  defaultAgent,
  excludedBuiltinAgents: texts,
  /** How many sub-agents, how deep, and what they may take. */
  subagents: subagentSettings,
});

/** What holds for sub-agents; agents by name below `agents`, or directly. */
export const subagentSettings = once(() => z.record(text(), z.unknown()));

const agentLimits = once(() =>
  sparseObject({
    maxTokens: numberOrNull,
    maxCalls: numberOrNull,
    maxCost: numberOrNull,
    maxSeconds: numberOrNull,
  }),
);

const customAgent = once(() =>
  sparseObject(
    {
      displayName: textOrNull,
      description: textOrNull,
      /** Null or absent: every tool. */
      tools: textsOrNull,
      prompt: textOrNull,
      mcpServers: () => z.nullable(z.record(text(), mcpServer())),
      infer: flagOrNull,
      skills: textsOrNull,
      model: textOrNull,
      reasoningEffort: textOrNull,
      /** What it may take as a sub-agent. */
      limits: () => z.nullable(agentLimits()),
    },
    { name: text },
  ),
);

const defaultAgent = once(() => sparseObject({ excludedTools: textsOrNull }));

/** What the model reads before the first prompt. */
const instructionFields = () => ({
  systemMessage,
  instructionDirectories: texts,
  organizationCustomInstructions: text,
  skipCustomInstructions: flag,
  enableOnDemandInstructionDiscovery: flag,
  enableSkills: flag,
  skillDirectories: texts,
  disabledSkills: texts,
  pluginDirectories: texts,
});

const systemMessageSection = once(() =>
  sparseObject({
    action: () => z.nullable(openEnum(['replace', 'append', 'prepend', 'remove', 'preserve', 'transform'])),
    content: textOrNull,
  }),
);

const systemMessage = once(() =>
  sparseObject({
    mode: () => z.nullable(openEnum(['append', 'replace', 'customize'])),
    content: textOrNull,
    sections: () => z.nullable(z.record(text(), systemMessageSection())),
  }),
);

/** Where the session works and keeps its files. */
const placeFields = () => ({
  workingDirectory: text,
  additionalDirectories: texts,
  configDir: text,
});

/** Where commands run, and what they may touch. */
export const sandboxFields = () => ({
  /** Which executor; `auto` is the sandbox where it works, `off` is `host`. */
  sandbox: () => z.enum(['host', 'off', 'bwrap', 'seatbelt', 'auto']),
  sandboxConfig,
});

const sandboxConfig = once(() =>
  sparseObject({
    /** With true, the sandbox of this system or nothing; with false, none. */
    enabled: flagOrNull,
    /** Whether the working directory may be written; true unless given. */
    addCurrentWorkingDirectory: flagOrNull,
    allowDevToolAccess: flagOrNull,
    auth: () => z.nullable(sparseObject({ git: flagOrNull, gh: flagOrNull })),
    userPolicy: () => z.nullable(sandboxPolicy()),
  }),
);

const seatbeltPolicy = () => z.nullable(sparseObject({ keychainAccess: flagOrNull }));

const sandboxPolicy = once(() =>
  sparseObject({
    filesystem: () =>
      z.nullable(
        sparseObject({
          readwritePaths: textsOrNull,
          readonlyPaths: textsOrNull,
          deniedPaths: textsOrNull,
          clearPolicyOnExit: flagOrNull,
        }),
      ),
    network: () =>
      z.nullable(
        sparseObject({ allowOutbound: flagOrNull, allowLocalNetwork: flagOrNull, proxy: mapOrNull }),
      ),
    seatbelt: seatbeltPolicy,
    experimental: () => z.nullable(sparseObject({ seatbelt: seatbeltPolicy })),
  }),
);

/** What is switched on or off, and the limits. */
const featureFields = () => ({
  enableConfigDiscovery: flag,
  enableFileHooks: flag,
  /** Names a model service that each node has in a file of its own. */
  providerRef: () => z.string(),
  /** What a node must have to work on the session. */
  nodeLabels: () => z.array(z.string()),
  /** Who titles the session: its model in the background, or its first prompt. */
  titles: () => z.enum(['model', 'prompt']),
  enableHostGitOperations: flag,
  enableSessionStore: flag,
  enableSessionTelemetry: flag,
  enableCitations: flag,
  enableFileChangeTracking: flag,
  isExperimentalMode: flag,
  skipEmbeddingRetrieval: flag,
  embeddingCacheStorage: text,
  infiniteSessions,
  memory,
  sessionLimits,
});

const infiniteSessions = once(() =>
  sparseObject({
    enabled: flagOrNull,
    backgroundCompactionThreshold: numberOrNull,
    bufferExhaustionThreshold: numberOrNull,
  }),
);

const memory = once(() => sparseObject({ enabled: flagOrNull }));

/** What the session may spend on models in all. */
export const sessionLimits = once(() =>
  sparseObject({
    /** Hundredths of a US dollar. */
    maxAiCredits: numberOrNull,
    /** US dollars. */
    maxCost: numberOrNull,
    maxTokens: numberOrNull,
    maxCalls: numberOrNull,
  }),
);

/** For hosts with a surface of their own; taken as they come. */
const hostFields = () => ({
  canvases: () => z.array(canvasDeclaration()),
  canvasProvider: () => openObject({ id: z.string(), name: z.nullish(z.string()) }),
  openCanvases: anything,
  requestCanvasRenderer: flag,
  requestExtensions: flag,
  extensionSdkPath: text,
  extensionInfo: anything,
  remoteSession: anything,
  cloud: anything,
  expAssignments: anything,
  enableManagedSettings: anything,
  managedSettings: anything,
  githubMcpToolConfig: anything,
});
