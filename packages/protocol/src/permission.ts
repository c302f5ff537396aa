import * as z from 'zod';
import { once, oneOf, openEnum, openObject, type Value } from './schema.js';

/** What a tool call wants to do, with all that a policy needs to judge it. */
export const permissionRequest = once(() =>
  oneOf('kind', [
    shell(),
    write(),
    read(),
    mcp(),
    url(),
    memory(),
    customTool(),
    hook(),
    extensionManagement(),
    factory(),
    extensionPermissionAccess(),
    extensionEnvAccess(),
  ]),
);

/** The question of a `permission.requested`. */
export type PermissionRequest = Value<typeof permissionRequest>;

/** The same question as a dialogue shows it: a shell call becomes `commands`, a foreign path a question of its own. */
export const permissionPrompt = once(() =>
  oneOf('kind', [
    commands(),
    path(),
    write(),
    read(),
    openObject(mcpFields()),
    url(),
    memory(),
    customTool(),
    hook(),
    extensionManagement(),
    factory(),
    extensionPermissionAccess(),
    extensionEnvAccess(),
  ]),
);

/** The dialogue of a `permission.requested`. */
export type PermissionPrompt = Value<typeof permissionPrompt>;

/** What `approve-for-session` and `approve-for-location` carry. */
export type Approval = Value<typeof approval>;

/** What a client answers; kinds and fields of other versions pass, and what is no known approval never approves. */
export const permissionDecision = once(() =>
  openObject({
    kind: openEnum([
      'approve-once',
      'approve-for-session',
      'approve-for-location',
      'approve-permanently',
      'reject',
      'user-not-available',
      'approved',
      'approved-for-session',
      'approved-for-location',
      'cancelled',
      'denied-by-rules',
      'denied-no-approval-rule-and-could-not-request-from-user',
      'denied-interactively-by-user',
      'denied-by-content-exclusion-policy',
      'denied-by-permission-request-hook',
    ]),
    approval: approval().nullish(),
    domain: z.string().nullish(),
    feedback: z.string().nullish(),
    forceReject: z.boolean().nullish(),
    interrupt: z.boolean().nullish(),
    locationKey: z.string().nullish(),
    message: z.string().nullish(),
    path: z.string().nullish(),
    reason: z.string().nullish(),
    rules: z.array(permissionRule()).nullish(),
  }),
);

/** The answer of a client. */
export type PermissionDecision = Value<typeof permissionDecision>;

/** How a question for permission ended. */
export const permissionResult = once(() =>
  oneOf('kind', [
    openObject({ kind: z.literal('approved'), managedApprovalHandled: z.boolean().optional() }),
    openObject({
      kind: z.literal('approved-for-session'),
      approval: approval(),
      managedApprovalHandled: z.boolean().optional(),
    }),
    openObject({
      kind: z.literal('approved-for-location'),
      approval: approval(),
      locationKey: z.string(),
      managedApprovalHandled: z.boolean().optional(),
    }),
    openObject({ kind: z.literal('cancelled'), reason: z.string().optional() }),
    openObject({ kind: z.literal('denied-by-rules'), rules: z.array(permissionRule()) }),
    openObject({ kind: z.literal('denied-no-approval-rule-and-could-not-request-from-user') }),
    openObject({
      kind: z.literal('denied-interactively-by-user'),
      feedback: z.string().optional(),
      forceReject: z.boolean().optional(),
    }),
    openObject({
      kind: z.literal('denied-by-content-exclusion-policy'),
      message: z.string(),
      path: z.string(),
    }),
    openObject({
      kind: z.literal('denied-by-permission-request-hook'),
      interrupt: z.boolean().optional(),
      message: z.string().optional(),
    }),
  ]),
);

/** The result of a `permission.completed`. */
export type PermissionResult = Value<typeof permissionResult>;

const permissionRule = once(() => openObject({ kind: z.string(), argument: z.string().nullable() }));

const shell = once(() =>
  openObject({
    kind: z.literal('shell'),
    canOfferSessionApproval: z.boolean(),
    commands: z.array(openObject({ identifier: z.string(), readOnly: z.boolean() })),
    fullCommandText: z.string(),
    hasWriteFileRedirection: z.boolean(),
    intention: z.string(),
    possiblePaths: z.array(z.string()),
    possibleUrls: z.array(openObject({ url: z.string() })),
    commandSegments: z.array(openObject({ identifier: z.string(), fullCommandText: z.string() })).optional(),
    warning: z.string().optional(),
    ...sandboxFields(),
    ...commonFields(),
  }),
);

const commands = once(() =>
  openObject({
    kind: z.literal('commands'),
    canOfferSessionApproval: z.boolean(),
    commandIdentifiers: z.array(z.string()),
    fullCommandText: z.string(),
    intention: z.string(),
    warning: z.string().optional(),
    ...commonFields(),
  }),
);

const path = once(() =>
  openObject({
    kind: z.literal('path'),
    accessKind: z.enum(['read', 'shell', 'write']),
    paths: z.array(z.string()),
    ...commonFields(),
  }),
);

const write = once(() =>
  openObject({
    kind: z.literal('write'),
    canOfferSessionApproval: z.boolean(),
    diff: z.string(),
    fileName: z.string(),
    intention: z.string(),
    newFileContents: z.string().optional(),
    ...sandboxFields(),
    ...commonFields(),
  }),
);

const read = once(() =>
  openObject({
    kind: z.literal('read'),
    intention: z.string(),
    path: z.string(),
    ...sandboxFields(),
    ...commonFields(),
  }),
);

const mcp = once(() => openObject({ ...mcpFields(), readOnly: z.boolean() }));

const mcpFields = () => ({
  kind: z.literal('mcp'),
  serverName: z.string(),
  toolName: z.string(),
  toolTitle: z.string(),
  args: z.unknown().optional(),
  permissionRecommendation: z.literal('approve').optional(),
  ...commonFields(),
});

const url = once(() =>
  openObject({
    kind: z.literal('url'),
    intention: z.string(),
    url: z.string(),
    redirectedFrom: z.string().optional(),
    ...sandboxFields(),
    ...commonFields(),
  }),
);

const memory = once(() =>
  openObject({
    kind: z.literal('memory'),
    fact: z.string(),
    action: z.enum(['store', 'vote']).optional(),
    citations: z.string().optional(),
    direction: z.enum(['upvote', 'downvote']).optional(),
    reason: z.string().optional(),
    repoNwo: z.string().optional(),
    scope: z.enum(['repository', 'user']).optional(),
    subject: z.string().optional(),
    ...commonFields(),
  }),
);

const customTool = once(() =>
  openObject({
    kind: z.literal('custom-tool'),
    toolDescription: z.string(),
    toolName: z.string(),
    args: z.unknown().optional(),
    skipPermission: z.boolean().optional(),
    ...commonFields(),
  }),
);

const hook = once(() =>
  openObject({
    kind: z.literal('hook'),
    toolName: z.string(),
    hookMessage: z.string().optional(),
    toolArgs: z.unknown().optional(),
    ...commonFields(),
  }),
);

const extensionManagement = once(() =>
  openObject({
    kind: z.literal('extension-management'),
    operation: z.string(),
    extensionName: z.string().optional(),
    ...commonFields(),
  }),
);

const factory = once(() =>
  openObject({
    kind: z.literal('factory'),
    approvalKey: z.string(),
    canPersistApproval: z.boolean(),
    description: z.string(),
    name: z.string(),
    operation: z.enum(['run', 'author']),
    phases: z.array(openObject({ title: z.string(), detail: z.string().optional() })),
    declaredMaxAiCredits: z.number().optional(),
    declaredMaxConcurrentSubagents: z.number().optional(),
    declaredMaxTotalSubagents: z.number().optional(),
    declaredTimeoutSeconds: z.number().optional(),
    maxAiCredits: z.number().optional(),
    maxConcurrentSubagents: z.number().optional(),
    maxTotalSubagents: z.number().optional(),
    timeoutSeconds: z.number().optional(),
    ...commonFields(),
  }),
);

const extensionPermissionAccess = once(() =>
  openObject({
    kind: z.literal('extension-permission-access'),
    capabilities: z.array(z.string()),
    extensionName: z.string(),
    ...commonFields(),
  }),
);

const extensionEnvAccess = once(() =>
  openObject({
    kind: z.literal('extension-env-access'),
    environmentVariables: z.array(z.string()).min(1),
    extensionName: z.string(),
    ...commonFields(),
  }),
);

/** What any question may carry. */
const commonFields = () => ({
  toolCallId: z.string().optional(),
  managedApprovalRequired: z.boolean().optional(),
  /** What a judging model said of the request. */
  assistedApproval: openObject({
    recommendation: z.enum(['approve', 'requireApproval', 'excluded', 'error']),
    failureReason: z.enum(['timeout', 'abort', 'empty_response', 'model_error', 'parse_error']).optional(),
    model: z.string().optional(),
    reason: z.string().optional(),
  }).optional(),
});

/** Set when the call asks to run outside the sandbox. */
const sandboxFields = () => ({
  requestSandboxBypass: z.boolean().optional(),
  requestSandboxBypassReason: z.string().optional(),
});

/** What an approval covers beyond this one call. */
const approval = once(() =>
  oneOf('kind', [
    openObject({ kind: z.literal('commands'), commandIdentifiers: z.array(z.string()) }),
    openObject({ kind: z.literal('read') }),
    openObject({ kind: z.literal('write') }),
    openObject({ kind: z.literal('mcp'), serverName: z.string(), toolName: z.string().nullish() }),
    openObject({ kind: z.literal('mcp-sampling'), serverName: z.string() }),
    openObject({ kind: z.literal('memory') }),
    openObject({ kind: z.literal('custom-tool'), toolName: z.string() }),
    openObject({ kind: z.literal('extension-management'), operation: z.string().optional() }),
    openObject({ kind: z.literal('factory'), approvalKey: z.string().optional() }),
    openObject({ kind: z.literal('extension-permission-access'), extensionName: z.string() }),
    openObject({
      kind: z.literal('extension-env-access'),
      environmentVariables: z.array(z.string()).min(1),
      extensionName: z.string(),
    }),
  ]),
);
