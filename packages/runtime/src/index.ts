export { storeFailureCode } from './agents/failure.js';
export { limitsChanged, type SessionLimits } from './budget/limits.js';
export { creditsOf, modelMetrics } from './budget/metrics.js';
export { costOfAll } from './budget/spending.js';
export { type Clock, monotonic, systemClock } from './clock.js';
export { deniesPaths } from './exec/sandbox-denied.js';
export { SandboxHost } from './exec/sandbox-host.js';
export type { Probe } from './exec/sandbox-probe.js';
export { type ExecutorChoice, outlookOf, type SandboxSettings } from './exec/sandbox-settings.js';
export { type JobRunner, Workers } from './exec/workers.js';
export { defaultHookOptions } from './hooks/client-hooks.js';
export type { HookOptions } from './hooks/hooks.js';
export { PublishedEvent } from './log/published-event.js';
export { repairSession } from './log/repair.js';
export type { Draft, EphemeralDraft, EventDraft } from './log/session-log.js';
export {
  agentOf,
  type HistoryEntry,
  type OpenQuestion,
  openQuestions,
  type Prompt,
  type SessionState,
} from './log/state.js';
export { BookFault } from './permissions/book-fault.js';
export { type Decision, UnknownDecision } from './permissions/decision.js';
export { type Explanation, explain, type Wish } from './permissions/explain.js';
export type { WithFileLock } from './permissions/file-lock.js';
export type { Approval, PermissionMode, PolicyRules, Verdict } from './permissions/policy.js';
export type { PermissionRequest } from './permissions/question.js';
export { describeRule, type Rule } from './permissions/rules.js';
export type { ShellReading } from './permissions/shell/reading.js';
export { standingPolicy } from './permissions/standing-policy.js';
export { noUserRules, type UserRules, type UserRulesReader } from './permissions/user-rules.js';
export { ClientGone } from './questions/asked-client.js';
export { planAnswer } from './questions/call-questions.js';
export type { ElicitationAnswer } from './questions/client-requests.js';
export { UnfitForm } from './questions/form.js';
export type { Answers, QuestionRef } from './questions/questions.js';
export {
  type Home,
  type Lifecycle,
  type OpenRequest,
  type ResumeRequest,
  Runtime,
  type RuntimeOptions,
} from './runtime.js';
export { type JobPorts, serveJobs } from './serve-jobs.js';
export { type Attachment, Audience, type ClientCommand, ToolClash } from './session/audience.js';
export { QueueFull } from './session/inbox.js';
export { BadDirectory, configuredDirectories } from './session/permission-places.js';
export { digestOf, MessageIdReused } from './session/receipts.js';
export { Session } from './session/session.js';
export { openRules } from './session/session-sandbox.js';
export { refusalOfUserCommand, runUserCommand, type UserCommandResult } from './session/user-shell.js';
export {
  type ModelCapabilities,
  type NamedProvider,
  type ProviderSettings,
  type RegistryModel,
  withCapabilities,
} from './settings/provider-config.js';
export {
  defaultProviderName,
  InvalidProvider,
  missingSecret,
  selectionId,
  withoutWireModel,
  withProviderChanges,
  withRegistry,
} from './settings/provider-settings.js';
export type {
  ModelAccess,
  ModelSeams,
  SessionSettings,
  SystemMessage,
  TraceContext,
} from './settings/session-settings.js';
export type { CutSession, RepairedSession } from './store/cut-session.js';
export { diskKinds } from './store/disk-fault.js';
export { firstEpoch } from './store/epoch.js';
export { makeDirectory } from './store/make-directory.js';
export { memoryStore } from './store/memory.js';
export { cutPage, readCursor, wantedContext } from './store/query.js';
export { asRanges } from './store/ranges.js';
export {
  inUse,
  isStale,
  requireConsecutive,
  seqConflict,
  staleOwner,
  unknownSession,
} from './store/refusals.js';
export {
  type AppendRequest,
  type Claim,
  type ClaimRequest,
  type LogRecord,
  type Owner,
  type OwnerSince,
  type Page,
  type SessionContext,
  type SessionHead,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
  StoreError,
  type StoreErrorKind,
} from './store/session-store.js';
export { syncPath } from './store/sync-path.js';
export { type BuiltinOptions, builtinTools } from './tools/builtin.js';
export type { ExternalAnswer, ToolDeclaration } from './tools/external.js';
export { isSecretOfRuntime } from './tools/shell/environment.js';
export { hardenedEnvironment } from './tools/shell/hardened-environment.js';
export { SessionShells, type ShellOptions, Shells } from './tools/shell/shells.js';
export type { PreparedCall, Tool, ToolContext, ToolResult } from './tools/tool.js';
export { ToolFailure, ToolInputError } from './tools/tool.js';
export type { ModelPlan, TurnLimits } from './turn/context.js';
export { type ContextUse, measureContext } from './turn/context-use.js';
export { type PromptExtras, type RequestHeaders, requestHeaders } from './turn/interaction.js';
export { modelWarning, warningAboutEffort } from './turn/model-warnings.js';
export { warnAtOnce } from './turn/option-warnings.js';
export { checkDirectory, NoSuchDirectory } from './workspace/check-directory.js';
export type { OpenDatabase } from './workspace/database.js';
export { describeDirectory } from './workspace/git.js';
export { leftDirectories } from './workspace/left-directories.js';
export { type RemovedFiles, removedFilesIn } from './workspace/removed-files.js';
