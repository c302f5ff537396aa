export { HostAgents } from './agents/host-agents.js';
export type { SessionLimits } from './budget/limits.js';
export { systemClock } from './clock.js';
export { findExecutable } from './exec/executable.js';
export { MachineSandbox } from './exec/machine-sandbox.js';
export type { ExecutorChoice, SandboxSettings } from './exec/sandbox-settings.js';
export { Workers } from './exec/workers.js';
export type { HookOptions } from './hooks/hooks.js';
export type { Lifecycle } from './lifecycle.js';
export { PublishedEvent } from './log/published-event.js';
export { repairSession } from './log/repair.js';
export type { EventDraft } from './log/session-log.js';
export type { Prompt } from './log/state.js';
export { explainInNewSession } from './new-session-explanation.js';
export type { Decision } from './permissions/decision.js';
export { explain } from './permissions/explain.js';
export type { Approval, PolicyRules } from './permissions/policy.js';
export { ruleBounds } from './permissions/rule-bounds.js';
export type { Rule } from './permissions/rules.js';
export type { UserRules } from './permissions/user-rules.js';
export { discoverInstructions } from './prompt/discover-instructions.js';
export { ClientGone } from './questions/asked-client.js';
export { planAnswer } from './questions/call-questions.js';
export type { ElicitationAnswer } from './questions/client-requests.js';
export { requestFailure } from './request-failure.js';
export { Runtime } from './runtime.js';
export type { RuntimeOptions } from './runtime-options.js';
export { serveJobs } from './serve-jobs.js';
export type { Attachment } from './session/audience.js';
export { configuredDirectories } from './session/permission-places.js';
export { Session } from './session/session.js';
export type {
  NamedProvider,
  ProviderSettings,
  RegistryModel,
} from './settings/provider-config.js';
export { providerSettings } from './settings/provider-settings.js';
export type {
  ModelAccess,
  ModelSeams,
  SessionSettings,
} from './settings/session-settings.js';
export { withProvider } from './settings/with-provider.js';
export { HostSkills } from './skills/host-skills.js';
export { storedLog } from './stored-log.js';
export type { Observer } from './telemetry/observer.js';
export { builtinTools } from './tools/builtin.js';
export type { ExternalAnswer, ToolDeclaration } from './tools/external.js';
export { publicLookup } from './tools/pinned-address.js';
export { isSecretOfRuntime } from './tools/shell/environment.js';
export { hardenedEnvironment } from './tools/shell/hardened-environment.js';
export { Shells } from './tools/shell/shells.js';
export type { Tool, ToolContext, ToolResult } from './tools/tool.js';
export { modelWarnings } from './turn/model-warnings.js';
export { NoSuchRequest } from './turn/stored-request.js';
export { directoryContext } from './workspace/check-directory.js';
export { removedFilesIn } from './workspace/removed-files.js';
