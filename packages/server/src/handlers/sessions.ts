import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import type { Methods, ParsedParams, Result } from '@groundcrew/protocol';
import type { Session, SessionSettings } from '@groundcrew/runtime';
import { isSafeId, StoreError } from '@groundcrew/store';
import { Refusal, SessionNotFound } from '../failure.js';
import { GitHubGrant } from '../github-token.js';
import type { CallContext, Handlers } from '../handler.js';
import { importHosted } from '../hosted-import.js';
import { observed, requireUnchanged } from '../observing.js';
import { optionWarnings } from '../option-warnings.js';
import { limitsFrom } from '../session-limits.js';
import { metadataOf } from '../session-metadata.js';
import { badToolName, settingsFrom, shareFrom } from '../settings.js';

type Names =
  | 'session.create'
  | 'session.delete'
  | 'session.destroy'
  | 'session.detach'
  | 'session.getForeground'
  | 'session.getLastId'
  | 'session.getMetadata'
  | 'session.list'
  | 'session.resume'
  | 'session.setForeground'
  | 'sessions.open';

export const sessionsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.create'(given, context) {
    const params = await withPlugins(given, context);
    const sessionId = params.sessionId ?? randomUUID();
    if (!isSafeId(sessionId))
      throw new Refusal(`Rejected session.create request with invalid sessionId: ${sessionId}`);
    const { share, grant, ...request } = await granted(sessionId, params, context, { isResume: false });
    const session = await context.client.open(sessionId, share, (attachment) =>
      context.runtime.create({ ...request, attachment }),
    );
    grant?.bind(session, context.runtime);
    if (context.client.dialect.resumesLikeProtocol2) context.newerSessions.add(sessionId);
    return opened(session, [...request.warnings, ...filterWarnings(session)], { context, params });
  },
  async 'session.resume'(given, context) {
    const { isObserver } = context.client;
    const { params, warnings: unheeded } = isObserver ? observed(given) : { params: given, warnings: [] };
    const { sessionId } = params;
    if (!sessionId) throw new Refusal('Missing sessionId parameter');
    const notFound = () =>
      new SessionNotFound(`Failed to load session events: Session not found: ${sessionId}`);
    if (!isSafeId(sessionId)) throw notFound();
    if (isObserver) await requireUnchanged(context.runtime, sessionId);
    const heeded = isObserver ? { ...context, optionWarnings: () => [] } : context;
    const { share, grant, ...request } = {
      ...(await granted(sessionId, params, heeded, { isResume: true })),
      changes: {
        ...(params.model !== undefined && { model: params.model }),
        ...(params.reasoningEffort !== undefined && { reasoningEffort: params.reasoningEffort }),
        ...(params.workingDirectory !== undefined && { workingDirectory: params.workingDirectory }),
        ...(params.sessionLimits !== undefined && { limits: limitsFrom(params.sessionLimits) ?? {} }),
      },
      continuePendingWork:
        params.continuePendingWork ?? (!isObserver && context.client.dialect.continuesPendingWork),
      isSilent: params.disableResume ?? false,
      takeOver: params.takeOver ?? false,
      waivesHooks: params.waiveHooks ?? false,
    };
    const open = () =>
      context.client.open(sessionId, share, (attachment) =>
        context.runtime.resume({ ...request, attachment }),
      );
    const session = await open().catch(async (error: unknown) => {
      if (!(error instanceof StoreError) || error.kind !== 'unknown_session') throw error;
      if (await importHosted(sessionId, context)) return open();
      throw notFound();
    });
    grant?.bind(session, context.runtime);
    const warnings = [...unheeded, ...request.warnings, ...filterWarnings(session)];
    return opened(session, warnings, { context, params });
  },
  async 'session.list'({ filter }, { runtime }) {
    const context = Object.fromEntries(
      Object.entries(filter ?? {}).filter(([, value]) => typeof value === 'string'),
    );
    return { sessions: (await runtime.list({ context })).map(metadataOf) };
  },
  async 'session.getMetadata'({ sessionId }, { runtime }) {
    const [found] = await runtime.list({ sessionId, includeEmpty: true });
    return found ? { session: metadataOf(found) } : {};
  },
  async 'session.getLastId'(_params, { runtime }) {
    const [newest] = await runtime.list({ limit: 1 });
    return newest ? { sessionId: newest.sessionId } : {};
  },
  async 'session.delete'({ sessionId }, { runtime }) {
    if (isSafeId(sessionId) && (await runtime.remove(sessionId))) return { success: true };
    return { success: false, error: `Session file not found for ${sessionId}` };
  },
  async 'sessions.open'(params, context) {
    const { kind, options = {} } = params;
    if (kind === undefined) return { status: 'not_found' };
    if (kind !== 'create' && !Object.hasOwn(openKinds, kind))
      throw new Refusal(
        `Sessions cannot be opened as '${kind}' here: this runtime knows local sessions only`,
      );
    const sessionId = kind === 'create' ? randomUUID() : await idToOpen(params, context);
    if (sessionId === undefined) return { status: 'not_found' };
    const request = { sessionId, ...options };
    const warnings = [...optionWarnings('session.resume', request), ...warningsOfOpening(params)];
    const opening = { ...context, optionWarnings: () => warnings };
    const method = kind === 'create' ? 'session.create' : 'session.resume';
    await sessionsHandlers[method](request, opening);
    const status = kind === 'create' ? 'created' : 'resumed';
    return { status, sessionId: request.sessionId, startupPrompts: [] };
  },
  'session.destroy': (params, context) => disconnect(params.sessionId, context),
  'session.detach': (params, context) => disconnect(params.sessionId, context),
  async 'session.getForeground'() {
    return {};
  },
  async 'session.setForeground'() {
    return {
      success: false,
      error: 'Not running in TUI+server mode - no foreground session change handler registered',
    };
  },
};

/** How a session that is there already is found. */
const openKinds = {
  resume: ({ sessionId }: OpenParams) => sessionId,
  resumeLast: ({ context }: OpenParams, { runtime }: CallContext) => runtime.stored.lastFor(context ?? {}),
  attach: ({ sessionId = '' }: OpenParams, { runtime }: CallContext) => runtime.find(sessionId)?.sessionId,
};

/** Events of starting and resuming come as they do for other methods. */
function warningsOfOpening({ emitStart, resume }: OpenParams): readonly string[] {
  const given = { emitStart, resume };
  const names = Object.entries(given).flatMap(([name, value]) => (value === false ? [name] : []));
  return names.map((name) => `The option '${name}' of sessions.open has no effect: the event comes anyway.`);
}

type OpenParams = ParsedParams<Methods['sessions.open']>;

async function idToOpen(params: OpenParams, call: CallContext): Promise<string | undefined> {
  const sessionId = await openKinds[params.kind as keyof typeof openKinds](params, call);
  const [found] = sessionId ? await call.runtime.list({ sessionId, includeEmpty: true }) : [];
  return found?.sessionId;
}

async function disconnect(
  sessionId: string,
  { runtime, client, extensions }: CallContext,
): Promise<{ success: boolean }> {
  // What an observer leaves goes on without it.
  if (client.isObserver) {
    const isAttached = runtime.find(sessionId)?.audience.has(client.id) ?? false;
    runtime.detachLostClient(sessionId, client.id);
    client.detached(sessionId);
    return { success: isAttached };
  }
  if (!client.extension) await extensions.leaving(runtime.find(sessionId), client.id);
  const success = await runtime.detachClient(sessionId, client.id);
  client.detached(sessionId);
  return { success };
}

/** The same with the GitHub token that the client gives, where it says that it does. */
async function granted(
  sessionId: string,
  params: ParsedParams<Methods['session.resume']>,
  context: CallContext,
  how: { readonly isResume: boolean },
) {
  const { gitHubTokenProviderRegistrationId: registrationId, gitHubToken } = params;
  if (registrationId === undefined)
    return { ...openRequest(sessionId, params, context, how), grant: undefined };
  if (gitHubToken !== undefined)
    throw new Refusal("'gitHubToken' and 'gitHubTokenProviderRegistrationId' exclude each other");
  const host = context.environment.accounts?.shown?.host ?? 'https://github.com';
  const grant = new GitHubGrant(context.client, { registrationId, host, sessionId });
  const request = openRequest(sessionId, { ...params, gitHubToken: await grant.initial() }, context, how);
  return { ...request, share: { ...request.share, gitHubGrant: grant }, grant };
}

function openRequest(
  sessionId: string,
  params: ParsedParams<Methods['session.resume']>,
  context: CallContext,
  how: { readonly isResume: boolean },
) {
  const { client, environment } = context;
  const { warnings = [], skipsInstructions } = environment;
  const place = workingPlace(context);
  const skipped = skipsInstructions ? { skipCustomInstructions: true } : {};
  client.dialect.settle({
    params,
    isResume: how.isResume,
    isOfNewer: context.newerSessions.has(sessionId),
  });
  if (params.enableGitHubTelemetryForwarding) client.wantsTelemetry = true;
  if (params.enableSessionTelemetry !== undefined)
    context.telemetry.allow(sessionId, params.enableSessionTelemetry);
  const share = shareFrom(params);
  const badName = badToolName(share.tools);
  if (badName !== undefined) {
    throw new Refusal(
      `session construction failed: GenericFailure, externalToolDefinitions: tool name "${badName}" contains invalid characters. Tool names may hold letters, digits, _ and - (/^[a-zA-Z0-9_-]+$/).`,
    );
  }
  for (const [name, share] of Object.entries(params.infiniteSessions ?? {}))
    if (typeof share === 'number' && !(share > 0 && share <= 1))
      throw new Refusal(
        `infiniteSessions.${name} is a share of the window: above 0 and at most 1, not ${share}`,
      );
  if (params.provider && !params.provider.baseUrl) {
    throw new Refusal('Invalid provider configuration: missing field `baseUrl`');
  }
  return {
    sessionId,
    settings: (before: Parameters<typeof settingsFrom>[1]) =>
      hosted(settingsFrom({ ...skipped, ...params }, before, place.workingDirectory), client),
    warnings: [
      ...context.optionWarnings(),
      ...place.warnings,
      ...extensionWarnings(params, context),
      ...warnings,
    ],
    ...(params.agent !== undefined && { agent: params.agent }),
    share,
  };
}

/** Sessions work where the client that stores their files says, if this machine has such a directory. */
function workingPlace({ client, environment: { workingDirectory } }: CallContext) {
  const initialCwd = client.hosting?.initialCwd;
  if (!initialCwd) return { workingDirectory, warnings: [] };
  if (isAbsolute(initialCwd) && statSync(initialCwd, { throwIfNoEntry: false })?.isDirectory())
    return { workingDirectory: initialCwd, warnings: [] };
  const warning = `The session file system's 'initialCwd' has no effect: ${initialCwd} is no directory on this machine. Sessions work in ${workingDirectory} unless they name another.`;
  return { workingDirectory, warnings: [warning] };
}

function hosted(settings: SessionSettings, { hosting }: CallContext['client']): SessionSettings {
  if (!hosting) return settings;
  const { initialCwd: _, ...where } = hosting;
  return { ...settings, hosting: where };
}

/** A new session has the plugins that are enabled, besides what its client names. */
async function withPlugins<P extends ParsedParams<Methods['session.resume']>>(
  params: P,
  { environment }: CallContext,
): Promise<P> {
  const enabled = await (await environment.plugins?.())?.enabled();
  if (!enabled || enabled.plugins.length === 0) return params;
  return {
    ...params,
    pluginDirectories: [...(params.pluginDirectories ?? []), ...enabled.plugins],
    ...(enabled.skills.length > 0 && {
      skillDirectories: [...(params.skillDirectories ?? []), ...enabled.skills],
    }),
  };
}

/** Extensions run only where the operator lets them. */
function extensionWarnings(
  { requestExtensions }: ParsedParams<Methods['session.resume']>,
  { extensions }: CallContext,
): readonly string[] {
  if (!requestExtensions || extensions.isAvailable) return [];
  return [
    "The option 'requestExtensions' has no effect: the runtime runs extensions only when started with GROUNDCREW_EXTENSIONS=1.",
  ];
}

/** Of filters that name no tool. */
function filterWarnings(session: Session): readonly string[] {
  const warnings = session.tools.planner.filterWarnings();
  session.optionWarnings.add(warnings);
  return warnings;
}

async function opened(
  session: Session,
  warnings: readonly string[],
  {
    context,
    params,
  }: { readonly context: CallContext; readonly params: ParsedParams<Methods['session.resume']> },
): Promise<Result<Methods['session.create']>> {
  const { client, afterAnswer, extensions } = context;
  afterAnswer(() => client.offerQuestions(session.sessionId));
  const wantsExtensions = params.requestExtensions === true && extensions.isAvailable;
  // What fails to start is listed as failed.
  if (wantsExtensions)
    afterAnswer(() => void extensions.start(session, params.extensionSdkPath).catch(() => undefined));
  const state = await session.state();
  return {
    sessionId: session.sessionId,
    nativeSessionId: session.sessionId,
    startTime: state.createdAt,
    isRemote: false,
    mode: state.mode,
    ...(session.hasWorkspaceIn(state) && { workspacePath: session.workspace.shownDirectory }),
    ...(warnings.length > 0 && { warnings: [...warnings] }),
    capabilities: {
      ui: {
        elicitation: session.audience.showsForms,
        mcpApps: session.currentSettings.hasMcpApps ?? false,
        canvases: session.audience.rendersCanvases,
      },
      extensions: wantsExtensions,
    },
  };
}
