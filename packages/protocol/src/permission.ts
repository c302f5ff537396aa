import * as z from 'zod/mini';
import { flagOrNull, textOrNull } from './fields.js';
import { once, oneOf, openEnum, openObject, type Value } from './schema.js';
import { sparseObject } from './sparse-object.js';

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
  sparseObject(
    {
      approval: () => z.nullable(approval()),
      domain: textOrNull,
      feedback: textOrNull,
      forceReject: flagOrNull,
      interrupt: flagOrNull,
      locationKey: textOrNull,
      message: textOrNull,
      path: textOrNull,
      reason: textOrNull,
      rules: () => z.nullable(z.array(permissionRule())),
    },
    {
      kind: () =>
        openEnum([
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
    },
  ),
);

/** The answer of a client. */
export type PermissionDecision = Value<typeof permissionDecision>;

/** How a question for permission ended. */
export const permissionResult = once(() =>
  oneOf('kind', [
    openObject({ kind: z.literal('approved'), managedApprovalHandled: z.optional(z.boolean()) }),
    openObject({
      kind: z.literal('approved-for-session'),
      approval: approval(),
      managedApprovalHandled: z.optional(z.boolean()),
    }),
    openObject({
      kind: z.literal('approved-for-location'),
      approval: approval(),
      locationKey: z.string(),
      managedApprovalHandled: z.optional(z.boolean()),
    }),
    openObject({ kind: z.literal('cancelled'), reason: z.optional(z.string()) }),
    openObject({ kind: z.literal('denied-by-rules'), rules: z.array(permissionRule()) }),
    openObject({ kind: z.literal('denied-no-approval-rule-and-could-not-request-from-user') }),
    openObject({
      kind: z.literal('denied-interactively-by-user'),
      feedback: z.optional(z.string()),
      forceReject: z.optional(z.boolean()),
    }),
    openObject({
      kind: z.literal('denied-by-content-exclusion-policy'),
      message: z.string(),
      path: z.string(),
    }),
    openObject({
      kind: z.literal('denied-by-permission-request-hook'),
      interrupt: z.optional(z.boolean()),
      message: z.optional(z.string()),
    }),
  ]),
);

/** The result of a `permission.completed`. */
export type PermissionResult = Value<typeof permissionResult>;

/** What may run or may not: a kind of request, and which of that kind. */
export const permissionRule = once(() => openObject({ kind: z.string(), argument: z.nullable(z.string()) }));

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
    commandSegments: z.optional(z.array(openObject({ identifier: z.string(), fullCommandText: z.string() }))),
    warning: z.optional(z.string()),
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
    warning: z.optional(z.string()),
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
    newFileContents: z.optional(z.string()),
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
  args: z.optional(z.unknown()),
  permissionRecommendation: z.optional(z.literal('approve')),
  ...commonFields(),
});

const url = once(() =>
  openObject({
    kind: z.literal('url'),
    intention: z.string(),
    url: z.string(),
    redirectedFrom: z.optional(z.string()),
    ...sandboxFields(),
    ...commonFields(),
  }),
);

const memory = once(() =>
  openObject({
    kind: z.literal('memory'),
    fact: z.string(),
    action: z.optional(z.enum(['store', 'vote'])),
    citations: z.optional(z.string()),
    direction: z.optional(z.enum(['upvote', 'downvote'])),
    reason: z.optional(z.string()),
    repoNwo: z.optional(z.string()),
    scope: z.optional(z.enum(['repository', 'user'])),
    subject: z.optional(z.string()),
    ...commonFields(),
  }),
);

const customTool = once(() =>
  openObject({
    kind: z.literal('custom-tool'),
    toolDescription: z.string(),
    toolName: z.string(),
    args: z.optional(z.unknown()),
    skipPermission: z.optional(z.boolean()),
    ...commonFields(),
  }),
);

const hook = once(() =>
  openObject({
    kind: z.literal('hook'),
    toolName: z.string(),
    hookMessage: z.optional(z.string()),
    toolArgs: z.optional(z.unknown()),
    ...commonFields(),
  }),
);

const extensionManagement = once(() =>
  openObject({
    kind: z.literal('extension-management'),
    operation: z.string(),
    extensionName: z.optional(z.string()),
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
    phases: z.array(openObject({ title: z.string(), detail: z.optional(z.string()) })),
    declaredMaxAiCredits: z.optional(z.number()),
    declaredMaxConcurrentSubagents: z.optional(z.number()),
    declaredMaxTotalSubagents: z.optional(z.number()),
    declaredTimeoutSeconds: z.optional(z.number()),
    maxAiCredits: z.optional(z.number()),
    maxConcurrentSubagents: z.optional(z.number()),
    maxTotalSubagents: z.optional(z.number()),
    timeoutSeconds: z.optional(z.number()),
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
    environmentVariables: z.array(z.string()).check(z.minLength(1)),
    extensionName: z.string(),
    ...commonFields(),
  }),
);

/** What any question may carry. */
const commonFields = () => ({
  toolCallId: z.optional(z.string()),
  managedApprovalRequired: z.optional(z.boolean()),
  /** What a judging model said of the request. */
  assistedApproval: z.optional(
    openObject({
      recommendation: z.enum(['approve', 'requireApproval', 'excluded', 'error']),
      failureReason: z.optional(z.enum(['timeout', 'abort', 'empty_response', 'model_error', 'parse_error'])),
      model: z.optional(z.string()),
      reason: z.optional(z.string()),
    }),
  ),
});

/** Set when the call asks to run outside the sandbox. */
const sandboxFields = () => ({
  requestSandboxBypass: z.optional(z.boolean()),
  requestSandboxBypassReason: z.optional(z.string()),
});

/** What an approval covers beyond this one call. */
export const approval = once(() =>
  oneOf('kind', [
    openObject({
      kind: z.literal('commands'),
      commandIdentifiers: z.array(z.string()),
      /** By name, a short form of what the commands ran when they were approved; the runtime adds it. */
      definitions: z.optional(z.record(z.string(), z.string())),
    }),
    openObject({ kind: z.literal('read') }),
    openObject({ kind: z.literal('write') }),
    openObject({
      kind: z.literal('mcp'),
      serverName: z.string(),
      toolName: z.nullish(z.string()),
      /** By the names of tools, a short form of how they were described when they were approved; the runtime adds it. */
      definitions: z.optional(z.record(z.string(), z.string())),
    }),
    openObject({ kind: z.literal('mcp-sampling'), serverName: z.string() }),
    openObject({ kind: z.literal('memory') }),
    openObject({ kind: z.literal('custom-tool'), toolName: z.string() }),
    openObject({ kind: z.literal('extension-management'), operation: z.optional(z.string()) }),
    openObject({ kind: z.literal('factory'), approvalKey: z.optional(z.string()) }),
    openObject({ kind: z.literal('extension-permission-access'), extensionName: z.string() }),
    openObject({
      kind: z.literal('extension-env-access'),
      environmentVariables: z.array(z.string()).check(z.minLength(1)),
      extensionName: z.string(),
    }),
  ]),
);
