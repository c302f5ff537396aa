import { type Methods, type ParsedParams, type Result, withoutNulls } from '@groundcrew/protocol';
import { type Approval, configuredDirectories, type Decision, type Rule } from '@groundcrew/runtime';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.permissions.${string}`>;
type PendingRequests = Result<Methods['session.permissions.pendingRequests']>;
type Configuration = ParsedParams<Methods['session.permissions.configure']>;

export const sessionPermissionsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.permissions.configure'(params, { session }) {
    const { permissions } = session;
    await permissions.fix(fixedBy(params));
    permissions.switch(switchedBy(params));
    return done;
  },
  async 'session.permissions.folderTrust.addTrusted'(params, { session }) {
    await session.permissions.places.trust(params.path);
    return done;
  },
  async 'session.permissions.folderTrust.isTrusted'(params, { session }) {
    const { places } = session.permissions;
    return { trusted: places.isTrusted(params.path) };
  },
  async 'session.permissions.getAllowAll'(_params, { session }) {
    return allowAll(await session.permissions.mode());
  },
  async 'session.permissions.getMode'(_params, { session }) {
    return { mode: await session.permissions.mode() };
  },
  async 'session.permissions.handlePendingPermissionRequest'(params, { session }) {
    return {
      success: await session.permissions.answer(params.requestId, withoutNulls(params.result) as Decision),
    };
  },
  async 'session.permissions.locations.addToolApproval'(params, { session }) {
    const { places } = session.permissions;
    await places.addApproval(params.locationKey, params.approval as Approval);
    return done;
  },
  async 'session.permissions.locations.apply'(params, { session }) {
    const { places } = session.permissions;
    const { rules, newRules, ...location } = await places.apply(params.workingDirectory);
    return {
      ...location,
      appliedDirectoryCount: 0,
      appliedRuleCount: newRules,
      appliedRules: rules.map(({ kind, argument }) => ({ kind, argument })),
      changed: newRules > 0,
    };
  },
  async 'session.permissions.locations.resolve'(params, { session }) {
    const { places } = session.permissions;
    return places.resolve(params.workingDirectory);
  },
  async 'session.permissions.modifyRules'(params, { session }) {
    const { scope, add = [], remove = [], removeAll = false } = params;
    const { places } = session.permissions;
    await places.modifyRules({ scope, add: add.map(ruleOf), remove: remove.map(ruleOf), removeAll });
    return done;
  },
  async 'session.permissions.notifyPromptShown'() {
    return done;
  },
  async 'session.permissions.paths.add'(params, { session }) {
    await session.permissions.places.add(params.path);
    return done;
  },
  async 'session.permissions.paths.isPathWithinAllowedDirectories'(params, { session }) {
    return { allowed: await session.permissions.places.isAllowed(params.path) };
  },
  async 'session.permissions.paths.isPathWithinWorkspace'(params, { session }) {
    const { places } = session.permissions;
    return { allowed: await places.isInWorkspace(params.path) };
  },
  async 'session.permissions.paths.list'(_params, { session }) {
    return session.permissions.places.list(await session.state());
  },
  async 'session.permissions.paths.updatePrimary'(params, { session }) {
    const { places } = session.permissions;
    await places.updatePrimary(params.path);
    return done;
  },
  async 'session.permissions.pendingRequests'(_params, { session }) {
    const items = (await session.openQuestions()).flatMap((question) => {
      if (question.kind !== 'permission') return [];
      const { permissionRequest, promptRequest } = question.event;
      return [{ requestId: question.requestId, request: promptRequest ?? permissionRequest }];
    });
    return { items } as PendingRequests;
  },
  async 'session.permissions.resetSessionApprovals'(params, { session }) {
    const { places } = session.permissions;
    await places.removeApprovals({ includeLocation: params.includeLocation ?? false });
    return done;
  },
  async 'session.permissions.setAllowAll'({ enabled = false, mode, model }, { session }) {
    const { permissions } = session;
    const wanted = mode ?? (enabled ? 'on' : 'off');
    await permissions.setMode(modes[wanted], wanted === 'auto' ? model : undefined);
    return { success: true, ...allowAll(await permissions.mode()) };
  },
  async 'session.permissions.setApproveAll'(params, { session }) {
    const { permissions } = session;
    permissions.switch({ approvesAll: params.enabled });
    return done;
  },
  async 'session.permissions.setMode'(params, { session }) {
    const { permissions } = session;
    await permissions.setMode(params.mode, params.assistedApprovalModel);
    return { success: true, mode: await permissions.mode() };
  },
  async 'session.permissions.setRequired'(params, { session, client }) {
    return { success: session.permissions.setRequired(client.id, params.required) };
  },
  async 'session.permissions.urls.setUnrestrictedMode'(params, { session }) {
    const { permissions } = session;
    permissions.switch({ allowsAnyUrl: params.enabled });
    return done;
  },
};

const done = { success: true };

/** Modes by the names that clients before 1.0.13 have for them. */
const modes = { off: 'manual', auto: 'assisted', on: 'allow-all' } as const;
const namesOfModes = { manual: 'off', assisted: 'auto', 'allow-all': 'on' } as const;

function allowAll(mode: keyof typeof namesOfModes) {
  return { enabled: mode === 'allow-all', mode: namesOfModes[mode] };
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
