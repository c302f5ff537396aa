import * as z from 'zod/mini';
import { method } from '../define.js';
import { anything, flagOrNull, text, textOrNull, textsOrNull } from '../fields.js';
import { approval, permissionDecision, permissionPrompt, permissionRule } from '../permission.js';
import { once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef, success } from './session-ref.js';

/** Questions for permission, and what is permitted without any. */
export const sessionPermissionsMethods = {
  'session.permissions.configure': method(
    'Replaces the pieces of the policy that are given; at most 2000 rules that allow, 2000 that deny, 2000 addresses.',
    () =>
      sparseObject(
        {
          additionalContentExclusionPolicies: () => z.nullable(z.array(exclusionPolicy())),
          approveAllReadPermissionRequests: flagOrNull,
          approveAllToolPermissionRequests: flagOrNull,
          paths: () => z.nullable(pathsConfig()),
          rules: () => z.nullable(ruleSet()),
          urls: () => z.nullable(urlsConfig()),
        },
        { sessionId: text },
      ),
    success,
  ),
  'session.permissions.folderTrust.addTrusted': method(
    'Stores that users trust a folder and everything in it.',
    () => inSession({ path: z.string() }),
    success,
  ),
  'session.permissions.folderTrust.isTrusted': method(
    'Whether users trust a folder.',
    () => inSession({ path: z.string() }),
    () => openObject({ trusted: z.boolean() }),
  ),
  'session.permissions.getAllowAll': method(
    'The same as `getMode`, in the form that clients before 1.0.13 read.',
    sessionRef,
    () => openObject({ enabled: z.boolean(), mode: allowAllMode() }),
  ),
  'session.permissions.getMode': method('Who answers questions for permission.', sessionRef, () =>
    openObject({ mode: mode() }),
  ),
  'session.permissions.handlePendingPermissionRequest': method(
    'Answers a question; false when it was answered before.',
    () => sparseObject({ decisionContext }, { sessionId: text, requestId: text, result: permissionDecision }),
    success,
  ),
  'session.permissions.locations.addToolApproval': method(
    'Keeps an approval for a place, in this run and later ones.',
    () => inSession({ locationKey: z.string(), approval: approval() }),
    success,
  ),
  'session.permissions.locations.apply': method(
    'Lets the approvals kept for a place hold in this session.',
    () => inSession({ workingDirectory: z.string() }),
    () =>
      openObject({
        ...location(),
        appliedDirectoryCount: z.number(),
        appliedRuleCount: z.number(),
        appliedRules: z.array(permissionRule()),
        changed: z.boolean(),
      }),
  ),
  'session.permissions.locations.resolve': method(
    'The place that approvals for a directory are kept under: its repository, or itself.',
    () => inSession({ workingDirectory: z.string() }),
    () => openObject(location()),
  ),
  'session.permissions.modifyRules': method(
    'Adds or removes rules that allow, for this session or for the place it works in.',
    () =>
      inSession({
        scope: z.enum(['session', 'location']),
        add: z.optional(z.array(permissionRule())),
        remove: z.optional(z.array(permissionRule())),
        removeAll: z.optional(z.boolean()),
      }),
    success,
  ),
  'session.permissions.notifyPromptShown': method(
    'Reports that users see a question.',
    () => inSession({ message: z.string() }),
    success,
  ),
  'session.permissions.paths.add': method(
    'Lets tools work in one more directory.',
    () => inSession({ path: z.string() }),
    success,
  ),
  'session.permissions.paths.isPathWithinAllowedDirectories': method(
    'Whether tools may work there without a question about the place.',
    () => inSession({ path: z.string() }),
    () => openObject({ allowed: z.boolean() }),
  ),
  'session.permissions.paths.isPathWithinWorkspace': method(
    "Whether a path is in the session's own directories.",
    () => inSession({ path: z.string() }),
    () => openObject({ allowed: z.boolean() }),
  ),
  'session.permissions.paths.list': method('The directories in which tools may work.', sessionRef, () =>
    openObject({ directories: z.array(z.string()), primary: z.string() }),
  ),
  'session.permissions.paths.updatePrimary': method(
    'Puts a directory in the place of the working directory.',
    () => inSession({ path: z.string() }),
    success,
  ),
  'session.permissions.pendingRequests': method('The questions that wait for an answer.', sessionRef, () =>
    openObject({ items: z.array(openObject({ requestId: z.string(), request: permissionPrompt() })) }),
  ),
  'session.permissions.resetSessionApprovals': method(
    'Forgets what users approved in this session, and if asked, in its place.',
    () => inSession({ includeLocation: z.optional(z.boolean()) }),
    success,
  ),
  'session.permissions.setAllowAll': method(
    'The same as `setMode`, in the form that clients before 1.0.13 send: a `mode`, or `enabled` alone.',
    () =>
      inSession({
        enabled: z.optional(z.boolean()),
        mode: z.optional(allowAllMode()),
        model: z.optional(z.string()),
        source: z.optional(z.string()),
      }),
    () => openObject({ success: z.boolean(), enabled: z.boolean(), mode: allowAllMode() }),
  ),
  'session.permissions.setApproveAll': method(
    'Approves everything without asking, until it is switched off.',
    () => inSession({ enabled: z.boolean(), source: z.optional(z.string()) }),
    success,
  ),
  'session.permissions.setMode': method(
    'Lets users answer questions, users but for what certainly only reads, or no one.',
    () =>
      inSession({
        mode: mode(),
        assistedApprovalModel: z.optional(z.string()),
        source: z.optional(z.string()),
      }),
    () => openObject({ mode: mode(), success: z.boolean() }),
  ),
  'session.permissions.setRequired': method(
    'Whether this client answers questions.',
    () => inSession({ required: z.boolean() }),
    success,
  ),
  'session.permissions.urls.setUnrestrictedMode': method(
    'Lets any address be fetched without a question.',
    () => inSession({ enabled: z.boolean() }),
    success,
  ),
};

/** How the decision came about. */
const decisionContext = once(() =>
  sparseObject({ outcome: textOrNull, source: textOrNull, surface: textOrNull }),
);

const mode = once(() => z.enum(['manual', 'assisted', 'allow-all']));

const allowAllMode = once(() => z.enum(['off', 'auto', 'on']));

const location = () => ({ locationKey: z.string(), locationType: z.enum(['repo', 'dir']) });

const ruleSet = once(() =>
  openObject({ approved: z.array(permissionRule()), denied: z.array(permissionRule()) }),
);

const pathsConfig = once(() =>
  sparseObject({
    additionalDirectories: textsOrNull,
    includeTempDirectory: flagOrNull,
    unrestricted: flagOrNull,
    workspacePath: textOrNull,
  }),
);

const urlsConfig = once(() => sparseObject({ initialAllowed: textsOrNull, unrestricted: flagOrNull }));

/** Files whose content must not be read. */
const exclusionPolicy = once(() =>
  openObject({
    rules: z.array(
      openObject({
        paths: z.array(z.string()),
        ifAnyMatch: z.optional(z.array(z.string())),
        ifNoneMatch: z.optional(z.array(z.string())),
        source: z.optional(openObject({ name: z.string(), type: z.string() })),
      }),
    ),
    last_updated_at: z.optional(anything()),
    scope: z.optional(z.string()),
  }),
);
