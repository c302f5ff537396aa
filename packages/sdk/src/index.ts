export type {
  Approval,
  EventData,
  EventOf,
  EventType,
  HookType,
  MethodName,
  Methods,
  ModelInfo,
  Params,
  PermissionDecision,
  PermissionRequest,
  Result,
  SentAttachment,
  SessionEvent,
} from '@groundcrew/protocol';
export { type Channel, RpcError } from '@groundcrew/rpc';
export { type AgentInfo, defineAgent, type SessionAgents } from './agents.js';
export { Client } from './client.js';
export type { ClientOptions, ConnectionLost, Reconnected } from './client-options.js';
export type { CommandContext, CommandDefinition } from './commands.js';
export {
  type ChannelRuntimeConnection,
  type ChildProcessRuntimeConnection,
  type InProcessRuntimeConnection,
  RuntimeConnection,
  type StdioRuntimeConnection,
  type TcpRuntimeConnection,
  type UriRuntimeConnection,
} from './connection-options.js';
export {
  type ArgumentsOf,
  defineTool,
  type Tool,
  type ToolInvocation,
  type ToolParameters,
} from './define-tool.js';
export { GroundcrewError, type GroundcrewErrorKind, OutputError } from './errors.js';
export { type FormChoice, type FormField, formChoices } from './form-field.js';
export type { HandlerFailure } from './handler-failure.js';
export type {
  CommonHookOutput,
  HookHandler,
  HookInput,
  HookOptions,
  HookOutput,
  HookOutputs,
  PostToolUseHookOutput,
  PreToolUseHookOutput,
  SessionHooks,
} from './hooks.js';
export type { FromJsonSchema, JsonSchema } from './json-schema.js';
export type { SessionContext, SessionListFilter, SessionMetadata, WaitingOn } from './metadata.js';
export type { ModelRequestContext, ModelRequestHandler } from './model-requests.js';
export type { SessionLifecycleEvent } from './open-runtime.js';
export type { OutputOf, OutputSchema } from './output.js';
export type {
  PendingElicitation,
  PendingExitPlanMode,
  PendingModelSwitch,
  PendingPermission,
  PendingQuestion,
  PendingSessionLimits,
  PendingToolCall,
  PendingUserInput,
} from './pending-questions.js';
export {
  approveAll,
  PermissionHandler,
  type PermissionInvocation,
  type PermissionRequestResult,
} from './permission.js';
export { type PermissionChoice, permissionChoices } from './permission-choices.js';
export type { Session } from './session.js';
export type {
  SessionFileInfo,
  SessionFiles,
  SessionFsOptions,
  SessionRows,
  SessionStatement,
  SessionTables,
} from './session-files.js';
export type {
  SessionLimitsAnswer,
  SessionLimitsHandler,
  SessionLimitsRequest,
} from './session-limits.js';
export type {
  AgentLimits,
  AutoModeSwitchHandler,
  BearerTokenProvider,
  CustomAgentConfig,
  ElicitationHandler,
  ElicitationRequest,
  ElicitationResult,
  ExitPlanModeHandler,
  InfiniteSessionConfig,
  LogOptions,
  McpHttpServerConfig,
  McpServerConfig,
  McpStdioServerConfig,
  MessageOptions,
  NamedProviderConfig,
  ProviderConfig,
  ProviderModelConfig,
  ProviderUpdate,
  ReasoningEffort,
  ResumeSessionOptions,
  SandboxExecutor,
  SandboxOptions,
  SessionConfigBase,
  SessionOptions,
  SetModelOptions,
  SubagentOptions,
  UserInputHandler,
  UserInputRequest,
} from './session-options.js';
export {
  type SectionOverride,
  type SectionTransform,
  SYSTEM_MESSAGE_SECTIONS,
  type SystemMessageConfig,
  type SystemMessageSection,
} from './system-message.js';
export type { NewAgentTask } from './task-options.js';
export type { AgentTask, SessionTasks } from './tasks.js';
export type { TelemetryOptions } from './telemetry.js';
export type { ToolResultObject } from './tool-result.js';
export { toolSubject } from './tool-subject.js';
export type { TraceContext } from './trace.js';
export {
  emptyTranscript,
  foldTranscript,
  storedPart,
  type Transcript,
  type TranscriptUsage,
  type TranscriptWait,
  transcriptOf,
  waitsOf,
} from './transcript.js';
export type {
  TranscriptAgent,
  TranscriptItem,
  TranscriptMessage,
  TranscriptNotice,
  TranscriptPrompt,
  TranscriptTool,
} from './transcript-item.js';
export type { TranscriptQuestion } from './transcript-questions.js';
export type { AssistantMessageEvent } from './turn-wait.js';
export { type UIMessageChunk, uiMessageResponse, uiMessageStream } from './ui-message-stream.js';
export type { SessionCallArguments, SessionMethodName } from './wire.js';
