import type { Methods, Params } from '@groundcrew/protocol';
import { checkToolNames, declarationOf } from './define-tool.js';
import { GroundcrewError } from './errors.js';
import { type HookOptions, hookTypesOf, type SessionHooks } from './hooks.js';
import type {
  CustomAgentConfig,
  McpServerConfig,
  ProviderConfig,
  ProviderUpdate,
  ResumeSessionOptions,
  SandboxExecutor,
  SandboxOptions,
  SessionConfigBase,
} from './session-options.js';
import { systemMessageParams } from './system-message.js';

type WireParams = Omit<Params<Methods['session.resume']>, 'sessionId'>;

/** What the wire says of a session's options: handlers become flags, everything else goes along. */
export function sessionParams(options: SessionConfigBase & ResumeSessionOptions): WireParams {
  const {
    tools,
    hooks,
    hookOptions,
    systemMessage,
    provider,
    providers,
    mcpServers,
    customAgents,
    subagents,
    sandbox,
    onPermissionRequest,
    onUserInputRequest,
    onExitPlanModeRequest,
    onAutoModeSwitchRequest,
    onElicitationRequest,
    onSessionLimitsRequest: _onSessionLimitsRequest,
    commands,
    onEvent: _onEvent,
    ...rest
  } = options;
  if (tools) checkToolNames(tools);
  checkHandlers(options);
  return {
    includeSubAgentStreamingEvents: true,
    ...rest,
    toolFilterPrecedence: 'excluded',
    envValueMode: 'direct',
    requestPermission: onPermissionRequest !== undefined,
    requestUserInput: onUserInputRequest !== undefined,
    requestExitPlanMode: onExitPlanModeRequest !== undefined,
    requestAutoModeSwitch: onAutoModeSwitchRequest !== undefined,
    ...(onElicitationRequest && { requestElicitation: true }),
    ...(commands && { commands: commands.map(({ handler: _handler, ...command }) => command) }),
    ...hookParams(hooks ?? {}, hookOptions),
    ...(tools && { tools: tools.map(declarationOf) }),
    ...(systemMessage && { systemMessage: systemMessageParams(systemMessage) }),
    ...(provider && { provider: providerParams(provider) }),
    ...(providers && { providers: providers.map(providerParams) }),
    ...(mcpServers && { mcpServers: serverParams(mcpServers) }),
    ...(customAgents && { customAgents: customAgents.map(agentParams) }),
    ...(subagents && { subagents: { ...subagents } }),
    ...(sandbox !== undefined && sandboxParams(sandbox, rest.sandboxConfig)),
  };
}

/** A handler that cannot be called would deny whatever it is asked: better that it is noticed at once. */
function checkHandlers(options: object): void {
  for (const [name, handler] of Object.entries(options))
    if (/^on[A-Z]/.test(name) && handler !== undefined && typeof handler !== 'function')
      throw new GroundcrewError('invalid_option', `The option '${name}' is no function`);
}

/** The runtime asks at the points that the app has hooks for. */
function hookParams(
  hooks: SessionHooks,
  options: HookOptions | undefined,
): Pick<WireParams, 'hooks' | 'hookOptions'> {
  const types = hookTypesOf(hooks);
  if (types.length === 0) return { hooks: false, ...(options && { hookOptions: options }) };
  return { hooks: true, hookOptions: { ...options, types } };
}

/** What the wire says of a sandbox; a policy that the app wrote itself is completed. */
function sandboxParams(
  sandbox: SandboxExecutor | SandboxOptions,
  config: WireParams['sandboxConfig'],
): Pick<WireParams, 'sandbox' | 'sandboxConfig'> {
  if (typeof sandbox === 'string') return { sandbox };
  const { executor, network, writablePaths, readOnlyPaths, deniedPaths } = sandbox;
  const filesystem = {
    ...(writablePaths && { readwritePaths: [...writablePaths] }),
    ...(readOnlyPaths && { readonlyPaths: [...readOnlyPaths] }),
    ...(deniedPaths && { deniedPaths: [...deniedPaths] }),
  };
  const { userPolicy } = config ?? {};
  const policy = {
    ...userPolicy,
    filesystem: { ...userPolicy?.filesystem, ...filesystem },
    network: { ...userPolicy?.network, ...(network !== undefined && { allowOutbound: network }) },
  };
  return { ...(executor && { sandbox: executor }), sandboxConfig: { ...config, userPolicy: policy } };
}

/** What a session is opened with once more, on another connection: what may have changed since is left as it is. */
export function reopeningParams(options: SessionConfigBase & ResumeSessionOptions): WireParams {
  const {
    model: _model,
    reasoningEffort: _reasoningEffort,
    workingDirectory: _workingDirectory,
    takeOver: _takeOver,
    waiveHooks: _waiveHooks,
    sandbox: _sandbox,
    sandboxConfig: _sandboxConfig,
    provider,
    ...rest
  } = options;
  // A service that only had settings changed is the runtime's own: it has no address here.
  const own = provider && provider.baseUrl !== '' ? { provider } : {};
  return { ...sessionParams({ ...rest, ...own }), continuePendingWork: true };
}

/** A model service as the wire has it; the function that provides its tokens stays in the app. */
export function providerParams<P extends Partial<ProviderConfig>>(provider: P) {
  const { bearerTokenProvider, ...rest } = provider;
  return { ...rest, ...(bearerTokenProvider && { hasBearerTokenProvider: true }) };
}

/** The options a session is opened with once more, after a service was changed. */
export function withProviderUpdate(options: SessionConfigBase, update: ProviderUpdate): SessionConfigBase {
  const { providerName, ...changes } = update;
  const named = options.providers?.find(({ name }) => name === providerName);
  if (!named) return { ...options, provider: changed(options.provider, changes) };
  const after = { ...changed(named, changes), name: named.name };
  const providers = options.providers?.map((each) => (each === named ? after : each));
  return { ...options, ...(providers && { providers }) };
}

/** Who names one sort of authentication does not mean the others any more. */
function changed(before: Partial<ProviderConfig> = {}, changes: ProviderUpdate): ProviderConfig {
  const { apiKey, bearerToken, bearerTokenProvider, ...rest } = before;
  const isAuthenticated = changes.apiKey ?? changes.bearerToken ?? changes.bearerTokenProvider;
  const kept = isAuthenticated === undefined || isAuthenticated === null ? before : rest;
  const given = Object.entries(changes).filter(([, value]) => value !== undefined && value !== null);
  return { baseUrl: '', ...kept, ...Object.fromEntries(given) };
}

function agentParams({ mcpServers, ...agent }: CustomAgentConfig) {
  return { ...agent, ...(mcpServers && { mcpServers: serverParams(mcpServers) }) };
}

function serverParams(servers: Readonly<Record<string, McpServerConfig>>) {
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, oneServer(server)]));
}

function oneServer(server: McpServerConfig) {
  if (!('command' in server)) return server;
  const { workingDirectory, ...rest } = server;
  return { ...rest, ...(workingDirectory !== undefined && { cwd: workingDirectory }) };
}
