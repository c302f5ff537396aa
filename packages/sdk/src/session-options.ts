import type {
  Callbacks,
  EventData,
  Methods,
  Params,
  ParsedParams,
  Result,
  SentAttachment,
  SessionEvent,
  ProviderConfig as WireProvider,
} from '@groundcrew/protocol';
import type { CommandDefinition } from './commands.js';
import type { Tool } from './define-tool.js';
import type { HookOptions, SessionHooks } from './hooks.js';
import type { OutputSchema } from './output.js';
import type { PermissionHandler } from './permission.js';
import type { SessionLimitsHandler } from './session-limits.js';
import type { SystemMessageConfig } from './system-message.js';

type WireOptions = Params<Methods['session.create']>;

/** How hard a model thinks. */
export type ReasoningEffort = 'low' | 'medium' | 'high' | 'xhigh' | 'max';

/** What a session is made with. Nothing is required. */
export interface SessionOptions extends SessionConfigBase {
  /** The session's id; a random UUID unless given. The id of a live session gives that session. */
  readonly sessionId?: string;
}

/** What a session is opened again with; what is left out stays as it was, except tools and handlers. */
export interface ResumeSessionOptions extends SessionConfigBase {
  /**
   * Open questions stay answerable and are put to this client's handlers, each once; an interrupted turn and prompts
   * that wait go on. Otherwise they are closed as interrupted.
   */
  readonly continuePendingWork?: boolean;
  /** Opens the session without a `session.resume` event. */
  readonly disableResume?: boolean;
  /** Takes the session even from another live process that works in it. */
  readonly takeOver?: boolean;
  /** Calls may run unasked although the client whose hooks guard the session is not attached. */
  readonly waiveHooks?: boolean;
}

/** What create and resume have in common. */
export interface SessionConfigBase extends OtherSettings {
  /** The app's name, for lists and for the model service. */
  readonly clientName?: string;
  /** The model that answers; the runtime's choice unless given. */
  readonly model?: string;
  /** How hard the model thinks, where it can. */
  readonly reasoningEffort?: ReasoningEffort;
  /** Tools that this app serves. */
  readonly tools?: readonly Tool[];
  /** How the system prompt is shaped. */
  readonly systemMessage?: SystemMessageConfig;
  /** The only tools the model sees: names, or `builtin:`, `mcp:`, `custom:` and a name or `*`. */
  readonly availableTools?: readonly string[];
  /** Tools the model does not see, even if they are available. */
  readonly excludedTools?: readonly string[];
  /** What only the main agent does without; agents it asks may still have it. */
  readonly defaultAgent?: { readonly excludedTools?: readonly string[] };
  /** A model service of the app's own. */
  readonly provider?: ProviderConfig;
  /** Several of them; a model is then chosen as `name/model`. */
  readonly providers?: readonly NamedProviderConfig[];
  /** The models of those services. */
  readonly models?: readonly ProviderModelConfig[];
  /** Whether answers come piece by piece, as `assistant.message_delta` events. */
  readonly streaming?: boolean;
  /** The directory the session works in; the runtime's unless given. */
  readonly workingDirectory?: string;
  /** Where this session is kept, instead of the runtime's home. */
  readonly configDir?: string;
  /**
   * Where commands run. Unless given, in the sandbox where it works when the mode is `assisted` or `allow-all`, and on the
   * host when it is `manual`. When a named sandbox does not work, the call fails with an error that says what to install.
   */
  readonly sandbox?: SandboxExecutor | SandboxOptions;
  /** When the conversation is summarised to make room; on unless switched off. `enabled: false`: no directory of its own either. */
  readonly infiniteSessions?: InfiniteSessionConfig;
  /** Where the app steps into a turn. A hook before a tool call that throws, hangs or answers nonsense denies the call. */
  readonly hooks?: SessionHooks;
  /** How long hooks may take, and what it means when they fail. */
  readonly hookOptions?: HookOptions;
  /**
   * Runs the hooks of `hooks.json` files: of the runtime's home, of `configDir`, and of the project. Off unless given; a
   * session that is resumed keeps what it was created with.
   */
  readonly enableFileHooks?: boolean;
  /** MCP servers, by name. They start at the first turn; their tools are offered as `<server>-<tool>`. */
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>;
  /** Agents that can lead the session, and that the main agent may ask; `defineAgent` checks one. */
  readonly customAgents?: readonly CustomAgentConfig[];
  /** How many sub-agents, how deep, and what they may take; a session that is resumed keeps what it had. */
  readonly subagents?: SubagentOptions;
  /** The agent that works instead of the main one, by its name: one of `customAgents` or of a file. */
  readonly agent?: string;
  /**
   * Directories with skills: folders with a `SKILL.md`. They come before those of the project and of the user.
   *
   * @example skillDirectories: ['./skills']
   */
  readonly skillDirectories?: readonly string[];
  /** Names of skills that are not offered. */
  readonly disabledSkills?: readonly string[];
  /** False: no skill at all, wherever it is. */
  readonly enableSkills?: boolean;
  /** False: skills and agents are not read from the project and from the user's home. */
  readonly enableConfigDiscovery?: boolean;
  /** Decides whether tool calls may run. Without it the question is left to other clients, and alone it is a no. */
  readonly onPermissionRequest?: PermissionHandler;
  /**
   * Answers questions of the agent; with it, the agent may ask.
   * @example
   * onUserInputRequest: ({ question, choices }) => ({ answer: choices[0] ?? 'Yes', wasFreeform: false })
   */
  readonly onUserInputRequest?: UserInputHandler;
  /**
   * Says what follows a plan; with it, an agent in plan mode may ask.
   * @example
   * onExitPlanModeRequest: async ({ summary, planContent }) =>
   *   (await confirm(`${summary}\n${planContent}`)) ? { approved: true } : { approved: false, feedback: 'Smaller steps' }
   */
  readonly onExitPlanModeRequest?: ExitPlanModeHandler;
  /**
   * Says whether to go on with another model when this one is rate limited; no answer is `no`.
   * @example
   * onAutoModeSwitchRequest: ({ retryAfterSeconds = 0 }) => (retryAfterSeconds > 60 ? 'yes' : 'no')
   */
  readonly onAutoModeSwitchRequest?: AutoModeSwitchHandler;
  /**
   * Shows forms and pages of apps and MCP servers; with it, `requestElicitation` is set. What does not fit the form is
   * refused, and the form stays open; a handler that throws cancels it.
   * @example
   * onElicitationRequest: ({ message }) => ({ action: 'accept', content: { name: 'Ada' } })
   */
  readonly onElicitationRequest?: ElicitationHandler;
  /** Decides how the session continues at a limit of `sessionLimits`; without it the question waits for other clients. */
  readonly onSessionLimitsRequest?: SessionLimitsHandler;
  /**
   * Slash commands that this app runs, for its own users and those of other clients.
   * @example
   * commands: [{ name: 'deploy', description: 'Deploys the app', handler: ({ args }) => deploy(args) }]
   */
  readonly commands?: readonly CommandDefinition[];
  /** Receives every event from the first one on, `session.start` and `session.resume` included. */
  readonly onEvent?: (event: SessionEvent) => unknown;
}

/** What the wire knows besides; passed on as it is. What has no effect gets a warning: docs/status.md. */
type OtherSettings = Omit<
  WireOptions,
  | 'sessionId'
  | 'traceparent'
  | 'tracestate'
  | 'requestPermission'
  | 'requestUserInput'
  | 'requestExitPlanMode'
  | 'requestAutoModeSwitch'
  | 'toolFilterPrecedence'
  | 'envValueMode'
  | 'reasoningEffort'
  | 'tools'
  | 'commands'
  | 'systemMessage'
  | 'provider'
  | 'providers'
  | 'models'
  | 'hooks'
  | 'hookOptions'
  | 'enableFileHooks'
  | 'mcpServers'
  | 'customAgents'
  | 'subagents'
  | 'defaultAgent'
  | 'infiniteSessions'
  | 'sandbox'
>;

/** Where commands run: `auto` is the sandbox where it works and the host elsewhere, `off` is the host. */
export type SandboxExecutor = 'host' | 'off' | 'bwrap' | 'seatbelt' | 'auto';

/** A sandbox, and what it shows. */
export interface SandboxOptions {
  readonly executor?: SandboxExecutor;
  /** False: commands have no network, and nothing runs where that cannot be held. */
  readonly network?: boolean;
  /** What may be written besides the session's directories. */
  readonly writablePaths?: readonly string[];
  /** What may be read although it would be hidden, and not written although it could be. */
  readonly readOnlyPaths?: readonly string[];
  /** What is hidden. */
  readonly deniedPaths?: readonly string[];
}

/** A model service the app brings along. */
export interface ProviderConfig extends Omit<WireProvider, 'baseUrl' | 'hasBearerTokenProvider'> {
  readonly baseUrl: string;
  /** Asked for a token before each model call; it stays with the app. */
  readonly bearerTokenProvider?: BearerTokenProvider;
}

/** What changes of a model service; what is left out stays. `providerName` says which, if there are several. */
export type ProviderUpdate = Partial<ProviderConfig>;

/** One of several model services. */
export interface NamedProviderConfig extends ProviderConfig {
  readonly name: string;
}

/** A model of one of several services, chosen as `provider/id`. */
export type ProviderModelConfig = NonNullable<WireOptions['models']>[number];

/** Gives the token of a model service; `default` is the one without a name. */
export type BearerTokenProvider = (
  request: ParsedParams<Callbacks['providerToken.getToken']>,
  signal: AbortSignal,
) => string | Promise<string>;

/** When a long conversation is summarised. */
export interface InfiniteSessionConfig {
  /** False: it never is, a full window leaves the oldest rounds out, and the session has no directory of its own. */
  readonly enabled?: boolean;
  /** The share of the window, above 0 and at most 1, at which summarising starts beside the work. */
  readonly backgroundCompactionThreshold?: number;
  /** The share at which the work waits for it. */
  readonly bufferExhaustionThreshold?: number;
}

/** How an MCP server is reached: by a command, or by a url. */
export type McpServerConfig = McpStdioServerConfig | McpHttpServerConfig;

interface McpServerFields {
  /** Which of its tools are offered; `["*"]`, the default, is all. */
  readonly tools?: readonly string[];
  readonly excludeTools?: readonly string[];
  /** How long it may take to start (30 s without it), and to answer a call (5 minutes), in milliseconds. */
  readonly timeout?: number;
  /** You trust the server's own description of its tools: those it calls read-only run without a question. */
  readonly trusted?: boolean;
  /** `never`: the model is offered all of its tools from the start, however many there are. */
  readonly deferTools?: 'auto' | 'never';
  /** No effect in this version: servers go by their names. */
  readonly displayName?: string;
}

/** An MCP server that the runtime starts. */
export interface McpStdioServerConfig extends McpServerFields {
  readonly type?: 'local' | 'stdio';
  readonly command: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly workingDirectory?: string;
  /** Another name of `workingDirectory`, which wins. */
  readonly cwd?: string;
}

/** An MCP server that runs already. */
export interface McpHttpServerConfig extends McpServerFields {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** How the server knows this app, where it wants to; without it the runtime registers itself. */
  readonly oauthClientId?: string;
  readonly oauthPublicClient?: boolean;
  readonly oauthGrantType?: 'authorization_code' | 'client_credentials';
  readonly auth?: boolean | { readonly redirectPort?: number };
  /** Headers that the app gives are asked for again after so long. */
  readonly headersRefreshTtlMs?: number;
}

/** An agent with a prompt, tools and a model of its own. */
export interface CustomAgentConfig {
  readonly name: string;
  readonly displayName?: string;
  /** When it should be asked. */
  readonly description?: string;
  readonly prompt: string;
  /** Null or absent: every tool. */
  readonly tools?: readonly string[] | null;
  readonly mcpServers?: Readonly<Record<string, McpServerConfig>>;
  /** Whether the main agent may choose it by itself. */
  readonly infer?: boolean;
  readonly skills?: readonly string[];
  readonly model?: string;
  readonly reasoningEffort?: ReasoningEffort;
  /** Limits of this agent as a sub-agent. At a limit it ends with the result so far, and reports the limit. */
  readonly limits?: AgentLimits;
}

/** What a sub-agent, or a tree of them, may take. */
export interface AgentLimits {
  /** Input and output together. */
  readonly maxTokens?: number;
  readonly maxCalls?: number;
  /** US dollars. */
  readonly maxCost?: number;
  /** Of work: what passes while no runtime has the session does not count. */
  readonly maxSeconds?: number;
}

/** What holds for the sub-agents of a session. */
export interface SubagentOptions {
  /** By the name of an agent. */
  readonly agents?: Readonly<
    Record<
      string,
      { readonly model?: string; readonly effortLevel?: ReasoningEffort; readonly limits?: AgentLimits }
    >
  >;
  /** Names of agents that others may not begin. */
  readonly disabledSubagents?: readonly string[];
  /** How many work at once; 8 unless given. Others wait. */
  readonly maxConcurrency?: number;
  /** How deep they nest; 3 unless given. */
  readonly maxDepth?: number;
  /** For each agent that has none of its own. */
  readonly limits?: AgentLimits;
  /** For all agents below one of the main agent's, that one included. */
  readonly treeLimits?: AgentLimits;
}

/** Answers one sort of question that the runtime puts to this app. */
type QuestionHandler<K extends keyof Callbacks, Answer = Result<Callbacks[K]>> = (
  request: Omit<ParsedParams<Callbacks[K]>, 'sessionId'>,
  invocation: { readonly sessionId: string },
  signal: AbortSignal,
) => Answer | Promise<Answer>;

/** What the agent asks; no choices means that any words are an answer. */
export interface UserInputRequest {
  readonly question: string;
  readonly choices: readonly string[];
  /** Words of the user's own are an answer too. */
  readonly allowFreeform: boolean;
}

/** Answers a question of the agent. */
export type UserInputHandler = (
  request: UserInputRequest,
  invocation: { readonly sessionId: string },
  signal: AbortSignal,
) => Result<Callbacks['userInput.request']> | Promise<Result<Callbacks['userInput.request']>>;

/** A form to fill in, or a page to visit. */
export type ElicitationRequest = Omit<EventData<'elicitation.requested'>, 'requestId'> & {
  readonly sessionId: string;
};

/** What the user made of it; `content` only with `accept`, by field. */
export interface ElicitationResult {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

/** Shows a form or a page. Asked again, at most four times, where an answer does not fit; `problem` says which field and why. */
export type ElicitationHandler = (
  request: ElicitationRequest,
  invocation: { readonly sessionId: string; readonly requestId: string; readonly problem?: string },
  signal: AbortSignal,
) => ElicitationResult | Promise<ElicitationResult>;

/** Says what follows a plan. */
export type ExitPlanModeHandler = QuestionHandler<'exitPlanMode.request'>;

/** Says whether to go on with another model. */
export type AutoModeSwitchHandler = QuestionHandler<'autoModeSwitch.request', 'yes' | 'yes_always' | 'no'>;

/** A prompt and what goes with it. */
export interface MessageOptions {
  readonly prompt: string;
  /** What users see instead of the prompt. */
  readonly displayPrompt?: string;
  /** Files, directories, selections, images and other things to look at. */
  readonly attachments?: readonly SentAttachment[];
  /** While a turn runs: a turn of its own afterwards, the default, or a word into the running one. */
  readonly mode?: 'enqueue' | 'immediate';
  /** Noted with the prompt; it is answered in the session's mode. Others than `interactive` get a warning. */
  readonly agentMode?: 'interactive' | 'plan' | 'autopilot' | 'shell';
  /** HTTP headers for the model calls of this turn. */
  readonly requestHeaders?: Readonly<Record<string, string>>;
  /** Whether they stand beside the provider's own headers, the default, or in their place. */
  readonly headerMergeStrategy?: 'merge' | 'override';
  /** This prompt's id; a random one unless given. Sent twice, it is one turn. */
  readonly messageId?: string;
  /** The form that the answer has to have: `sendAndWait` resolves with a value that fits it. */
  readonly output?: OutputSchema;
}

/** What changes with the model. */
export type SetModelOptions = Omit<
  Params<Methods['session.model.switchTo']>,
  'sessionId' | 'modelId' | 'source'
>;

/** How a notice is shown. */
export type LogOptions = Omit<Params<Methods['session.log']>, 'sessionId' | 'message'>;
