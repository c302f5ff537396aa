import type { AnswerStyle, ModelInfo, ModelProvider, ServiceEndpoint } from '@groundcrew/models';
import type { JsonObject } from '@groundcrew/protocol';
import type { SessionLimits } from '../budget/limits.js';
import type { SandboxSettings } from '../exec/sandbox-settings.js';
import type { HostingSettings } from '../workspace/hosted-files.js';
import type { ModelCapabilities, NamedProvider, ProviderSettings, RegistryModel } from './provider-config.js';

/** W3C trace context, passed on to tools and model services. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** What clients fixed for a session by create and resume. Secrets among it live in memory only. */
export interface SessionSettings {
  readonly clientName: string;
  readonly workingDirectory: string;
  readonly model?: string;
  readonly reasoningEffort?: string;
  /** How much answers say, and what is shown of thoughts. */
  readonly style?: AnswerStyle;
  readonly streaming: boolean;
  /** Answers say what of the documents they rest on, where the service can. */
  readonly citations?: boolean;
  /** What the app knows better of the model than its service says. */
  readonly modelCapabilities?: ModelCapabilities;
  /** The agent does not ask, even where a user would answer. */
  readonly isAskingDisabled?: boolean;
  readonly provider?: ProviderSettings;
  /** Services beside it, and the models they serve. */
  readonly providers?: readonly NamedProvider[];
  readonly models?: readonly RegistryModel[];
  /** Names a service that each node has in a file of its own. */
  readonly providerRef?: string;
  /** What a node must have to work on the session. */
  readonly nodeLabels?: readonly string[];
  readonly gitHubToken?: string;
  /** The GitHub user of the session, where a client gave one. */
  readonly gitHubUser?: { readonly type: string; readonly host: string; readonly login?: string };
  /** The Copilot API is called over WebSockets where it can be. */
  readonly webSocketResponses?: boolean;
  readonly systemMessage?: SystemMessage;
  /** Directories whose instructions hold besides those of the project. */
  readonly instructionDirectories?: readonly string[];
  /** No instructions are read from files. */
  readonly skipsInstructions?: boolean;
  /** Instructions that the app brings, beside those of files. */
  readonly organizationInstructions?: string;
  readonly availableTools?: readonly string[];
  readonly excludedTools?: readonly string[];
  readonly exclusionWins: boolean;
  readonly defaultAgentExcludedTools?: readonly string[];
  /** What the session may spend, where this client names it; the log knows what holds. */
  readonly limits?: SessionLimits;
  readonly trace: TraceContext;
  readonly configDir?: string;
  /** Whether it keeps a directory of its own, where this client says so; the log knows what holds. */
  readonly hasWorkspace?: boolean;
  /** Where a client keeps the session's files, where this one does; the log knows what holds. */
  readonly hosting?: HostingSettings;
  /** Who titles the session; by default the model where the operator named its service, else the first prompt does. */
  readonly titles?: 'model' | 'prompt';
  /** When the conversation is summarised: shares of the window. */
  readonly compaction?: { readonly background?: number; readonly blocking?: number };
  /** Where commands run, where this client names it. */
  readonly sandbox?: SandboxSettings;
  /** What tools write can be taken back, where this client says so; the log knows what holds. */
  readonly tracksFiles?: boolean;
  /** Hooks of files are run, where this client says so; the log knows what holds. */
  readonly fileHooks?: boolean;
  /** Where tools may work besides the working directory. */
  readonly additionalDirectories?: readonly string[];
  /** Agents that clients describe. */
  readonly customAgents?: readonly JsonObject[];
  /** What holds for sub-agents, where this client says so; the log knows what holds. */
  readonly subagents?: JsonObject;
  /** Agents of this program that are not offered. */
  readonly excludedBuiltinAgents?: readonly string[];
  /** Agents and skills are read from the project and from the user's home, too; so they are unless this is false. */
  readonly configDiscovery?: boolean;
  /** Without skills, none is loaded, wherever it is. */
  readonly skillsEnabled?: boolean;
  readonly skillDirectories?: readonly string[];
  readonly disabledSkills?: readonly string[];
  /** MCP servers by name, as clients and files describe them. Their secrets live in memory only. */
  readonly mcpServers?: Readonly<Record<string, JsonObject>>;
  /** Log-ins at MCP servers end with the session, and are kept in no file. */
  readonly keepsTokensInMemory?: boolean;
  /** What a client wants of GitHub's own server; without it there is none. */
  readonly gitHubServer?: JsonObject;
  readonly disabledMcpServers?: readonly string[];
  /** Directories of plugins; of those, servers are taken. */
  readonly pluginDirectories?: readonly string[];
  /** Some client shows apps of MCP servers. */
  readonly hasMcpApps?: boolean;
  /** Whether values of their variables stand for themselves, or may name others as `${NAME}`. */
  readonly envValueMode?: 'direct' | 'indirect';
  /** When tools are too many for every request. */
  readonly toolSearch?: { readonly enabled?: boolean; readonly deferThreshold?: number };
  /** What becomes of long results of tools. */
  readonly largeOutput?: {
    readonly enabled?: boolean;
    readonly maxSizeBytes?: number;
    readonly outputDir?: string;
  };
}

/** How the app shapes the system prompt. */
export interface SystemMessage {
  readonly mode?: string;
  readonly content?: string;
  readonly sections?: Readonly<Record<string, { readonly action?: string; readonly content?: string }>>;
}

/** What a way to a model service may use of its session. */
export interface ModelSeams {
  readonly sessionId: string;
  /** The token that some client gives for a provider, for one call. */
  getBearerToken(providerName: string, signal: AbortSignal): Promise<string>;
}

/** A way to some model service, as chosen for one session. */
export interface ModelAccess {
  readonly provider: ModelProvider;
  /** The model of a session that named none. */
  readonly defaultModel: string;
  /** What is known of a model without a call. */
  info(model: string): ModelInfo | undefined;
  /** False for a model that is never found there; one that no user chose is then left for its own. */
  serves?(model: string): boolean;
  /** False for a model that its service does not list; it is asked for all the same, and users are warned. */
  lists?(model: string): boolean;
  /** Another one of the same service, for when this one cannot be had. */
  otherModel?(model: string): string | undefined;
  /** The service is the Copilot API; its prompt says so. */
  readonly isCopilot: boolean;
  /** Where that is and who asks; GitHub's own MCP server is there too. */
  readonly copilot?: { readonly baseUrl: string; readonly token: string };
  /** How another program would call this model there; asks for what has to be asked for. */
  endpoint?(model: string, signal: AbortSignal): Promise<ServiceEndpoint>;
  /** The same service by other settings of its client's. */
  withChanges?(changes: ProviderSettings, seams: ModelSeams): ModelAccess;
  /** Whether a model titles sessions whose clients do not say; undefined: when clients ask for it; false: never. */
  titles?(model: string): boolean | undefined;
  /** Whether it only stands in for a model that nothing is configured for. */
  standsInFor?(model: string): boolean;
}
