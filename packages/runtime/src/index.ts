export { limitsChanged, type SessionLimits } from './budget/limits.js';
export { costOfAll } from './budget/spending.js';
export { type Clock, systemClock } from './clock.js';
export { type JobRunner, Workers } from './exec/workers.js';
export type { LoopLimits, MakeRoom, ModelPlan, Overflow } from './loop/context.js';
export { type RequestHeaders, requestHeaders, type TraceContext } from './loop/interaction.js';
export { type ContextUse, measureContext } from './loop/usage.js';
export { BookFault } from './permissions/book-fault.js';
export { type Decision, UnknownDecision } from './permissions/decision.js';
export { type Explanation, explain, type Wish } from './permissions/explain.js';
export type { Approval, PermissionMode, PolicyRules, Verdict } from './permissions/policy.js';
export { describeRule, type Rule } from './permissions/rules.js';
export type { ShellReading } from './permissions/shell/reading.js';
export { standingPolicy } from './permissions/standing-policy.js';
export { noUserRules, type UserRules, type UserRulesReader } from './permissions/user-rules.js';
export {
  type Home,
  type Lifecycle,
  type OpenRequest,
  type ResumeRequest,
  Runtime,
  type RuntimeOptions,
} from './runtime.js';
export { type Attachment, Audience, type ClientCommand, ClientGone, ToolClash } from './session/audience.js';
export type { PromptExtras } from './session/conversation.js';
export { storeFailureCode } from './session/failure.js';
export { QueueFull } from './session/inbox.js';
export type { Draft, EphemeralDraft, EventDraft } from './session/log.js';
export { mendSession } from './session/mend.js';
export { creditsOf, modelMetrics } from './session/metrics.js';
export { modelWarning, troubleWithEffort } from './session/model-warnings.js';
export { warnAtOnce } from './session/option-warnings.js';
export { BadDirectory, configuredDirectories } from './session/permission-places.js';
export {
  type ModelCapabilities,
  type NamedProvider,
  type ProviderSettings,
  type RegistryModel,
  withCapabilities,
} from './session/provider-config.js';
export {
  defaultProviderName,
  InvalidProvider,
  missingSecret,
  selectionId,
  withoutWireModel,
  withProviderChanges,
  withRegistry,
} from './session/provider-settings.js';
export type { Answers, QuestionRef } from './session/questions.js';
export { digestOf, MessageIdReused } from './session/receipts.js';
export type { ClientRequests, ElicitationAnswer } from './session/requests.js';
export { Session } from './session/session.js';
export type { ModelAccess, ModelSeams, SessionSettings, SystemMessage } from './session/settings.js';
export type { HistoryEntry, OpenQuestion, Prompt, SessionState } from './session/shape.js';
export { Told } from './session/told.js';
export { refusalOfUserCommand, runUserCommand, type UserCommandResult } from './session/user-shell.js';
export { memoryStore } from './store/memory.js';
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
} from './store/session-store.js';
export { type BackupOptions, BackupRefused, backupStore } from './store/sqlite/backup.js';
export {
  type Finding,
  type FindingType,
  type Inspection,
  isProblem,
  type StoreContents,
  type StorePlace,
} from './store/sqlite/finding.js';
export { type IdleStore, idleStore } from './store/sqlite/idle-store.js';
export { inspectStore } from './store/sqlite/inspect.js';
export { tidyFiles } from './store/sqlite/inspect-files.js';
export type { CutSession, MendedSession } from './store/sqlite/rebuild.js';
export { type RecoverOptions, type Recovery, recoverStore } from './store/sqlite/recover.js';
export {
  openSqliteStore,
  type SqliteStore,
  type SqliteStoreOptions,
  type SqliteStoreStats,
} from './store/sqlite/store.js';
export { type BuiltinOptions, builtinTools } from './tools/builtin.js';
export type { ExternalAnswer, ToolDeclaration } from './tools/external.js';
export { SessionShells, Shells } from './tools/shell/shells.js';
export type { PermissionRequest, PreparedCall, Tool, ToolContext, ToolResult } from './tools/tool.js';
export { ToolFailure, ToolInputError } from './tools/tool.js';
export { checkDirectory, NoSuchDirectory } from './workspace/check-directory.js';
export { describeDirectory } from './workspace/git.js';
