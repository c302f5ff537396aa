export { storeFailureCode } from './agents/failure.js';
export { limitsChanged, type SessionLimits } from './budget/limits.js';
export { creditsOf, modelMetrics } from './budget/metrics.js';
export { costOfAll } from './budget/spending.js';
export { systemClock } from './clock.js';
export { deniesPaths } from './exec/sandbox-denied.js';
export { SandboxHost } from './exec/sandbox-host.js';
export type { Probe } from './exec/sandbox-probe.js';
export { type ExecutorChoice, outlookOf, type SandboxSettings } from './exec/sandbox-settings.js';
export { Workers } from './exec/workers.js';
export { defaultHookOptions } from './hooks/client-hooks.js';
export type { HookOptions } from './hooks/hooks.js';
export { PublishedEvent } from './log/published-event.js';
export { repairSession } from './log/repair.js';
export type { EventDraft } from './log/session-log.js';
export { agentOf, type HistoryEntry, openQuestions, type Prompt } from './log/state.js';
export { type Decision, UnknownDecision } from './permissions/decision.js';
export { type Explanation, explain, type Wish } from './permissions/explain.js';
export type { Approval, PolicyRules } from './permissions/policy.js';
export { describeRule, type Rule } from './permissions/rules.js';
export { standingPolicy } from './permissions/standing-policy.js';
export { noUserRules, type UserRules, type UserRulesReader } from './permissions/user-rules.js';
export { discoverInstructions } from './prompt/discover-instructions.js';
export { ClientGone } from './questions/asked-client.js';
export { planAnswer } from './questions/call-questions.js';
export type { ElicitationAnswer } from './questions/client-requests.js';
export { UnfitForm } from './questions/form.js';
export { type Home, type Lifecycle, Runtime, type RuntimeOptions } from './runtime.js';
export { serveJobs } from './serve-jobs.js';
export { type Attachment, type ClientCommand, ToolClash } from './session/audience.js';
export { QueueFull } from './session/inbox.js';
export { configuredDirectories } from './session/permission-places.js';
export { digestOf, MessageIdReused } from './session/receipts.js';
export { Session } from './session/session.js';
export { openRules } from './session/session-sandbox.js';
export { refusalOfUserCommand, runUserCommand } from './session/user-shell.js';
export {
  type NamedProvider,
  type ProviderSettings,
  type RegistryModel,
  withCapabilities,
} from './settings/provider-config.js';
export {
  defaultProviderName,
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
export { builtinTools } from './tools/builtin.js';
export type { ExternalAnswer, ToolDeclaration } from './tools/external.js';
export { isSecretOfRuntime } from './tools/shell/environment.js';
export { hardenedEnvironment } from './tools/shell/hardened-environment.js';
export { Shells } from './tools/shell/shells.js';
export type { PreparedCall, Tool, ToolContext, ToolResult } from './tools/tool.js';
export { measureContext } from './turn/context-use.js';
export { requestHeaders } from './turn/interaction.js';
export { modelWarning, warningAboutEffort } from './turn/model-warnings.js';
export { warnAtOnce } from './turn/option-warnings.js';
export { checkDirectory, NoSuchDirectory } from './workspace/check-directory.js';
export { describeDirectory } from './workspace/git.js';
export { leftDirectories } from './workspace/left-directories.js';
export { removedFilesIn } from './workspace/removed-files.js';
