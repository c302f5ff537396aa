export type { Attachment, SentAttachment } from './attachment.js';
export { builtinToolNames } from './builtin-tools.js';
export { type Callbacks, callbacks } from './callbacks/catalog.js';
export { hookTypes } from './callbacks/hook-types.js';
export { type HookPoints, type HookType, hookPoints } from './callbacks/hooks.js';
export { type Notifications, notifications } from './callbacks/notifications.js';
export type { ClientToolResult, ToolContent, ToolOutput } from './content.js';
export {
  durable,
  type EventKind,
  type EventTable,
  ephemeral,
  type Lazy,
  type Method,
  type MethodTable,
  method,
  type Notification,
  type NotificationParams,
  type NotificationTable,
  notification,
  type Params,
  type ParsedParams,
  type Result,
  read,
  withoutNulls,
} from './define.js';
export {
  errorCodes,
  errorMessages,
  type FailureCode,
  failureCodes,
  type WireErrorCode,
} from './errors.js';
export {
  type DurableType,
  type EphemeralType,
  type EventData,
  type EventOf,
  type Events,
  type EventType,
  events,
  isDurable,
  type SessionEvent,
} from './events/catalog.js';
export { type AnyEvent, type Envelope, eventEnvelope } from './events/envelope.js';
export { charactersIn, type Immutable, isObject, type JsonObject, type JsonValue } from './json.js';
export { ineffectiveFields, isRemoteServer } from './mcp-server.js';
export { type MethodName, type Methods, methods } from './methods/catalog.js';
export type { ModelInfo, ProviderConfig } from './model.js';
export { nearestName } from './nearest-name.js';
export { insertOptions, sendMessagesOptions, sendOptions } from './options/send-tables.js';
export { findIneffective, type OptionFinding, type Support, type SupportTable } from './options/support.js';
export {
  createOptions,
  providerAddOptions,
  providerUpdateOptions,
  resumeOptions,
  switchOptions,
  toolsSetOptions,
  updateOptions,
} from './options/tables.js';
export type {
  Approval,
  PermissionDecision,
  PermissionPrompt,
  PermissionRequest,
  PermissionResult,
} from './permission.js';
export { type NeededRole, neededRoles, type Role, suffices } from './roles.js';
export { once, type Value } from './schema.js';
export type { SessionMode, WorkingDirectoryContext } from './settings.js';
export { protocolVersion } from './version.js';
export { type WaitKind, type WebhookEvent, waitKinds, webhookEvents } from './webhook.js';
