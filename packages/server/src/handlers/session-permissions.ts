import { type Methods, type ParsedParams, type Result, withoutNulls } from '@groundcrew/protocol';
import {
  type Approval,
  configuredDirectories,
  type Decision,
  openQuestions,
  type Rule,
} from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { CallContext, Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.permissions.${string}`>;
type PendingRequests = Result<Methods['session.permissions.pendingRequests']>;
type Configuration = ParsedParams<Methods['session.permissions.configure']>;

export const sessionPermissionsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.permissions.configure'(params, context) {
    const permissions = permissionsOf('session.permissions.configure', params, context);
    await permissions.fix(fixedBy(params));
    permissions.switch(switchedBy(params));
    return done;
  },
  async 'session.permissions.folderTrust.addTrusted'(params, context) {
    await permissionsOf('session.permissions.folderTrust.addTrusted', params, context).places.trust(
      params.path,
    );
    return done;
  },
  async 'session.permissions.folderTrust.isTrusted'(params, context) {
    const { places } = permissionsOf('session.permissions.folderTrust.isTrusted', params, context);
    return { trusted: places.isTrusted(params.path) };
  },
  async 'session.permissions.getMode'(params, context) {
    return { mode: await permissionsOf('session.permissions.getMode', params, context).mode() };
  },
  async 'session.permissions.handlePendingPermissionRequest'(params, context) {
    const method = 'session.permissions.handlePendingPermissionRequest';
    const permissions = permissionsOf(method, params, context);
    return { success: await permissions.answer(params.requestId, withoutNulls(params.result) as Decision) };
  },
  async 'session.permissions.locations.addToolApproval'(params, context) {
    const { places } = permissionsOf('session.permissions.locations.addToolApproval', params, context);
    await places.addApproval(params.locationKey, params.approval as Approval);
    return done;
  },
  async 'session.permissions.locations.apply'(params, context) {
    const { places } = permissionsOf('session.permissions.locations.apply', params, context);
    const { rules, newRules, ...location } = await places.apply(params.workingDirectory);
    return {
      ...location,
      appliedDirectoryCount: 0,
      appliedRuleCount: newRules,
      appliedRules: rules.map(({ kind, argument }) => ({ kind, argument })),
      changed: newRules > 0,
    };
  },
  async 'session.permissions.locations.resolve'(params, context) {
    const { places } = permissionsOf('session.permissions.locations.resolve', params, context);
    return places.resolve(params.workingDirectory);
  },
  async 'session.permissions.modifyRules'(params, context) {
    const { scope, add = [], remove = [], removeAll = false } = params;
    const { places } = permissionsOf('session.permissions.modifyRules', params, context);
    await places.modifyRules({ scope, add: add.map(ruleOf), remove: remove.map(ruleOf), removeAll });
    return done;
  },
  async 'session.permissions.notifyPromptShown'(params, context) {
    findSession('session.permissions.notifyPromptShown', params.sessionId, context);
    return done;
  },
  async 'session.permissions.paths.add'(params, context) {
    await permissionsOf('session.permissions.paths.add', params, context).places.add(params.path);
    return done;
  },
  async 'session.permissions.paths.isPathWithinAllowedDirectories'(params, context) {
    const method = 'session.permissions.paths.isPathWithinAllowedDirectories';
    return { allowed: await permissionsOf(method, params, context).places.isAllowed(params.path) };
  },
  async 'session.permissions.paths.isPathWithinWorkspace'(params, context) {
    const { places } = permissionsOf('session.permissions.paths.isPathWithinWorkspace', params, context);
    return { allowed: await places.isInWorkspace(params.path) };
  },
  async 'session.permissions.paths.list'({ sessionId }, context) {
    const session = findSession('session.permissions.paths.list', sessionId, context);
    return session.permissions.places.list(await session.state());
  },
  async 'session.permissions.paths.updatePrimary'(params, context) {
    const { places } = permissionsOf('session.permissions.paths.updatePrimary', params, context);
    await places.updatePrimary(params.path);
    return done;
  },
  async 'session.permissions.pendingRequests'({ sessionId }, context) {
    const session = findSession('session.permissions.pendingRequests', sessionId, context);
    const items = openQuestions(await session.state()).flatMap((question) => {
      if (question.kind !== 'permission') return [];
      const { permissionRequest, promptRequest } = question.event;
      return [{ requestId: question.requestId, request: promptRequest ?? permissionRequest }];
    });
    return { items } as PendingRequests;
  },
  async 'session.permissions.resetSessionApprovals'(params, context) {
    const { places } = permissionsOf('session.permissions.resetSessionApprovals', params, context);
    await places.removeApprovals({ includeLocation: params.includeLocation ?? false });
    return done;
  },
  async 'session.permissions.setApproveAll'(params, context) {
    const permissions = permissionsOf('session.permissions.setApproveAll', params, context);
    permissions.switch({ approvesAll: params.enabled });
    return done;
  },
  async 'session.permissions.setMode'(params, context) {
    const permissions = permissionsOf('session.permissions.setMode', params, context);
    await permissions.setMode(params.mode, params.assistedApprovalModel);
    return { success: true, mode: await permissions.mode() };
  },
  async 'session.permissions.setRequired'(params, context) {
    const permissions = permissionsOf('session.permissions.setRequired', params, context);
    return { success: permissions.setRequired(context.client.id, params.required) };
  },
  async 'session.permissions.urls.setUnrestrictedMode'(params, context) {
    const permissions = permissionsOf('session.permissions.urls.setUnrestrictedMode', params, context);
    permissions.switch({ allowsAnyUrl: params.enabled });
    return done;
  },
};

const done = { success: true };

function permissionsOf(method: Names, { sessionId }: { readonly sessionId: string }, context: CallContext) {
  return findSession(method, sessionId, context).permissions;
}

function ruleOf({ kind, argument }: { readonly kind: string; readonly argument: string | null }): Rule {
  return { kind, argument };
}

/** What the log keeps of a configuration. */
function fixedBy({ rules, paths, urls, additionalContentExclusionPolicies }: Configuration) {
  const excluded = (additionalContentExclusionPolicies ?? []).flatMap((policy) =>
    policy.rules.flatMap(exclusions),
  );
  const denied = rules?.denied.map(ruleOf) ?? [];
  return {
    ...(rules && { allow: rules.approved.map(ruleOf) }),
    ...((rules || additionalContentExclusionPolicies) && { deny: [...denied, ...excluded] }),
    ...(paths && {
      directories: configuredDirectories({
        additionalDirectories: paths.additionalDirectories ?? undefined,
        includeTempDirectory: paths.includeTempDirectory ?? undefined,
      }),
      primary: null,
      workspacePath: paths.workspacePath ?? null,
    }),
    ...(urls && { urls: urls.initialAllowed ?? [] }),
  };
}

/** Conditions on what a file contains cannot be judged before it is read: such a rule excludes in any case. */
function exclusions({
  paths,
  source,
}: {
  readonly paths: readonly string[];
  readonly source?: { readonly name: string } | undefined;
}): readonly Rule[] {
  const origin = source === undefined ? 'content exclusion' : `content exclusion of ${source.name}`;
  return paths.map((argument) => ({ kind: 'path', argument, origin }));
}

/** What lasts only as long as the session is open. */
function switchedBy(params: Configuration) {
  const { approveAllToolPermissionRequests, approveAllReadPermissionRequests, paths, urls } = params;
  return {
    ...(approveAllToolPermissionRequests != null && { approvesAll: approveAllToolPermissionRequests }),
    ...(approveAllReadPermissionRequests != null && { approvesReads: approveAllReadPermissionRequests }),
    ...(paths && { allowsAnyPath: paths.unrestricted ?? false }),
    ...(urls && { allowsAnyUrl: urls.unrestricted ?? false }),
  };
}
