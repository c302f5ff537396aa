import { resolve } from 'node:path';
import type { JsonObject, Methods, ParsedParams } from '@groundcrew/protocol';
import {
  type HookOptions,
  providerSettings,
  type SessionSettings,
  type ToolDeclaration,
} from '@groundcrew/runtime';
import type { Share } from './client.js';
import { namedDirectories, requireFewDirectories } from './named-directories.js';
import { withoutNullsDeep } from './nulls.js';
import { providerFrom, registryFrom, tokenProvidersOf } from './provider-settings.js';
import { sandboxFrom } from './sandbox.js';
import { limitsFrom } from './session-limits.js';
import { traceFrom } from './trace.js';

type ResumeParams = ParsedParams<Methods['session.resume']> & {
  /** Of `session.options.update` only. */
  readonly askUserDisabled?: boolean | undefined;
};

/** What a client wants of a session, upon what the session went by before; what it leaves out stays. */
export function settingsFrom(
  params: ResumeParams,
  before: SessionSettings | undefined,
  workingDirectory: string,
): SessionSettings {
  const settings: SessionSettings = {
    clientName: params.clientName ?? before?.clientName ?? 'sdk',
    workingDirectory: resolve(workingDirectory, params.workingDirectory ?? before?.workingDirectory ?? ''),
    streaming: params.streaming ?? before?.streaming ?? false,
    exclusionWins: (params.toolFilterPrecedence ?? precedenceOf(before)) === 'excluded',
    trace: traceFrom(params) ?? before?.trace ?? {},
    ...pick('compaction', compactionOf(params) ?? before?.compaction),
    ...pick('hosting', before?.hosting),
    ...pick('hasWorkspace', params.infiniteSessions?.enabled ?? before?.hasWorkspace),
    ...pick(
      'customAgents',
      (params.customAgents as readonly JsonObject[] | undefined) ?? before?.customAgents,
    ),
    ...pick('subagents', (params.subagents as JsonObject | undefined) ?? before?.subagents),
    ...mcpSettings(params, before),
    ...pick('largeOutput', largeOutputOf(params) ?? before?.largeOutput),
    ...pick('model', params.model || before?.model),
    ...pick('reasoningEffort', params.reasoningEffort || before?.reasoningEffort),
    ...pick('style', styleFrom(params, before)),
    ...pick('modelCapabilities', capabilitiesOf(params) ?? before?.modelCapabilities),
    ...pick('isAskingDisabled', params.askUserDisabled ?? before?.isAskingDisabled),
    ...pick('limits', limitsFrom(params.sessionLimits)),
    ...pick('citations', params.enableCitations ?? before?.citations),
    ...pick('gitHubToken', params.gitHubToken ?? before?.gitHubToken),
    ...pick('webSocketResponses', params.capi?.enableWebSocketResponses ?? before?.webSocketResponses),
    ...pick('systemMessage', systemMessageOf(params) ?? before?.systemMessage),
    ...pick(
      'instructionDirectories',
      directoriesFrom(params.instructionDirectories, params, workingDirectory) ??
        before?.instructionDirectories,
    ),
    ...pick('skipsInstructions', params.skipCustomInstructions ?? before?.skipsInstructions),
    ...pick(
      'organizationInstructions',
      params.organizationCustomInstructions ?? before?.organizationInstructions,
    ),
    ...pick('availableTools', params.availableTools ?? before?.availableTools),
    ...pick('excludedTools', params.excludedTools ?? before?.excludedTools),
    ...pick(
      'defaultAgentExcludedTools',
      params.defaultAgent?.excludedTools ?? before?.defaultAgentExcludedTools,
    ),
    ...pick('sandbox', sandboxFrom(params) ?? before?.sandbox),
    ...switchSettings(params, before),
    ...nodeSettings(params, before),
    ...pick('configDir', params.configDir ?? before?.configDir),
    ...skillSettings(params, before, workingDirectory),
    ...pick(
      'additionalDirectories',
      directoriesFrom(params.additionalDirectories, params, workingDirectory) ??
        before?.additionalDirectories,
    ),
  };
  return providerSettings.withRegistry(withProvider(settings, params, before), registryFrom(params));
}

/** What is done beside the conversation. */
function switchSettings(params: ResumeParams, before: SessionSettings | undefined): Partial<SessionSettings> {
  return {
    ...pick('tracksFiles', params.enableFileChangeTracking ?? before?.tracksFiles),
    ...pick('fileHooks', params.enableFileHooks ?? before?.fileHooks),
    ...pick('titles', params.titles ?? before?.titles),
  };
}

/** What a node must have to work on the session. */
function nodeSettings(params: ResumeParams, before: SessionSettings | undefined): Partial<SessionSettings> {
  return {
    ...pick('providerRef', params.providerRef ?? before?.providerRef),
    ...pick('nodeLabels', params.nodeLabels ?? before?.nodeLabels),
  };
}

/** A service that is named again is another one; one that stays, under another model, forgets how it called the old. */
function withProvider(
  settings: SessionSettings,
  { provider, model }: ResumeParams,
  before: SessionSettings | undefined,
): SessionSettings {
  if (provider) return { ...settings, ...registryOf(before), provider: providerFrom(provider) };
  const kept = { ...settings, ...registryOf(before), ...pick('provider', before?.provider) };
  return !model || model === before?.model ? kept : providerSettings.withoutWireModel(kept);
}

function registryOf(before: SessionSettings | undefined): Pick<SessionSettings, 'providers' | 'models'> {
  return { ...pick('providers', before?.providers), ...pick('models', before?.models) };
}

/** What a client says of MCP servers and of their tools. */
function mcpSettings(params: ResumeParams, before: SessionSettings | undefined): Partial<SessionSettings> {
  return {
    ...pick('mcpServers', serversOf(params, before)),
    ...pick('disabledMcpServers', params.disabledMcpServers ?? before?.disabledMcpServers),
    ...pick(
      'pluginDirectories',
      requireFewDirectories(params.pluginDirectories) ?? before?.pluginDirectories,
    ),
    ...pick('toolSearch', toolSearchOf(params) ?? before?.toolSearch),
    ...pick('hasMcpApps', params.requestMcpApps ?? before?.hasMcpApps),
    ...pick('envValueMode', envValueModeOf(params) ?? before?.envValueMode),
    ...pick('gitHubServer', gitHubServerOf(params) ?? before?.gitHubServer),
    ...pick('keepsTokensInMemory', tokensOf(params) ?? before?.keepsTokensInMemory),
  };
}

/** Servers that are named join those that clients named before; one of the same name takes the other's place. */
function serversOf(
  { mcpServers }: ResumeParams,
  before: SessionSettings | undefined,
): SessionSettings['mcpServers'] {
  if (!mcpServers) return before?.mcpServers;
  const named = Object.entries(mcpServers).map(([name, server]) => [
    name,
    withoutNullsDeep(server) as JsonObject,
  ]);
  return { ...before?.mcpServers, ...Object.fromEntries(named) };
}

function toolSearchOf({ toolSearch }: ResumeParams): SessionSettings['toolSearch'] {
  return toolSearch && (withoutNullsDeep(toolSearch) as NonNullable<SessionSettings['toolSearch']>);
}

function gitHubServerOf({ githubMcpToolConfig: wish }: ResumeParams): JsonObject | undefined {
  return typeof wish === 'object' && wish !== null ? (withoutNullsDeep(wish) as JsonObject) : undefined;
}

function tokensOf({ mcpOAuthTokenStorage: storage }: ResumeParams): true | undefined {
  return storage === 'in-memory' ? true : undefined;
}

function envValueModeOf({ envValueMode }: ResumeParams): SessionSettings['envValueMode'] {
  return (['direct', 'indirect'] as const).find((mode) => mode === envValueMode);
}

/** When a client wants its session to be summarised. */
function compactionOf({ infiniteSessions }: ResumeParams): SessionSettings['compaction'] {
  const { backgroundCompactionThreshold: background, bufferExhaustionThreshold: blocking } =
    infiniteSessions ?? {};
  if (typeof background !== 'number' && typeof blocking !== 'number') return undefined;
  return {
    ...(typeof background === 'number' && { background }),
    ...(typeof blocking === 'number' && { blocking }),
  };
}

/** How answers are to be written; words that mean nothing change nothing. */
export function styleFrom(
  params: Pick<ResumeParams, 'verbosity' | 'reasoningSummary'>,
  before: SessionSettings | undefined,
): SessionSettings['style'] {
  const verbosity = (['low', 'medium', 'high'] as const).find((word) => word === params.verbosity);
  const reasoningSummary = (['none', 'concise', 'detailed'] as const).find(
    (word) => word === params.reasoningSummary,
  );
  if (verbosity === undefined && reasoningSummary === undefined) return before?.style;
  return { ...before?.style, ...pick('verbosity', verbosity), ...pick('reasoningSummary', reasoningSummary) };
}

/** What a client says of a model. */
export function capabilitiesOf({
  modelCapabilities,
}: Pick<ResumeParams, 'modelCapabilities'>): SessionSettings['modelCapabilities'] {
  return modelCapabilities && (withoutNullsDeep(modelCapabilities) as SessionSettings['modelCapabilities']);
}

function skillSettings(
  params: ResumeParams,
  before: SessionSettings | undefined,
  workingDirectory: string,
): Partial<SessionSettings> {
  const from = resolve(workingDirectory, params.workingDirectory ?? before?.workingDirectory ?? '');
  const directories = params.skillDirectories && namedDirectories(params.skillDirectories, from);
  return {
    ...pick('configDiscovery', params.enableConfigDiscovery ?? before?.configDiscovery),
    ...pick('excludedBuiltinAgents', params.excludedBuiltinAgents ?? before?.excludedBuiltinAgents),
    ...pick('skillsEnabled', params.enableSkills ?? before?.skillsEnabled),
    ...pick('skillDirectories', directories ?? before?.skillDirectories),
    ...pick('disabledSkills', params.disabledSkills ?? before?.disabledSkills),
  };
}

/** Directories that are named from somewhere are named from where the session works. */
function directoriesFrom(
  directories: readonly string[] | undefined,
  { workingDirectory }: ResumeParams,
  fallback: string,
): readonly string[] | undefined {
  const from = resolve(fallback, workingDirectory ?? '');
  return directories && namedDirectories(directories, from);
}

/** What the client brings to the session. */
export function shareFrom(params: ResumeParams): Share {
  return {
    tools: (params.tools ?? []).map((tool) => withoutNullsDeep(tool) as unknown as ToolDeclaration),
    requestPermission: params.requestPermission ?? false,
    requestUserInput: params.requestUserInput ?? false,
    requestExitPlanMode: params.requestExitPlanMode ?? false,
    hidesAgentStreams: params.includeSubAgentStreamingEvents === false,
    requestAutoModeSwitch: params.requestAutoModeSwitch ?? false,
    ...(transformsSections(params) && { transformMs: params.hookOptions?.timeoutMs ?? defaultTransformMs }),
    ...(params.hooks && { hooks: hookOptionsFrom(params.hookOptions) }),
    elicitation: params.requestElicitation ?? false,
    ...canvasesOf(params),
    ...factoriesOf(params),
    commands: (params.commands ?? []).map(
      (command) => withoutNullsDeep(command) as Share['commands'][number],
    ),
    tokenProviders: tokenProvidersOf(params),
  };
}

/** The factories and workflows whose bodies a client runs; only extensions bring some. */
function factoriesOf({ factories = [], workflows = [] }: ResumeParams): Pick<Share, 'factories'> {
  if (factories.length + workflows.length === 0) return {};
  return {
    factories: [
      ...factories.map(({ name, description }) => ({ name, ...(description && { description }) })),
      ...workflows.map(({ name, description, phases = [] }) => ({
        name,
        ...(description && { description }),
        isWorkflow: true,
        phases: phases.map(({ title, detail }) => ({ title, ...(detail && { detail }) })),
      })),
    ],
  };
}

/** The canvases that a client brings, under the name it gives itself; `Client` names the others by their connection. */
function canvasesOf({
  canvases,
  canvasProvider,
  requestCanvasRenderer,
}: ResumeParams): Pick<Share, 'canvases' | 'rendersCanvases'> {
  const { id = '', name } = canvasProvider ?? {};
  const declared = (canvases ?? []).map(
    (canvas) => withoutNullsDeep(canvas) as unknown as NonNullable<Share['canvases']>['canvases'][number],
  );
  return {
    ...(declared.length > 0 && {
      canvases: { extensionId: id, canvases: declared, ...(name && { extensionName: name }) },
    }),
    ...(requestCanvasRenderer && { rendersCanvases: true }),
  };
}

/** How long a client may take to rewrite the prompt, where it names no time. */
const defaultTransformMs = 10_000;

export function transformsSections({ systemMessage }: Pick<ResumeParams, 'systemMessage'>): boolean {
  return Object.values(systemMessage?.sections ?? {}).some(({ action }) => action === 'transform');
}

/** How long a client may take to answer a hook, where it names no time. */
const defaultHookMs = 60_000;

function hookOptionsFrom(options: ResumeParams['hookOptions']): HookOptions {
  const { timeoutMs, onFailure, types, stopBlocks } = options ?? {};
  return {
    timeoutMs: timeoutMs ?? defaultHookMs,
    onFailure: onFailure ?? 'deny',
    ...(types && { types }),
    ...(typeof stopBlocks === 'number' && { stopBlocks }),
  };
}

/** The first name that no model service would take. */
export function badToolName(tools: readonly ToolDeclaration[]): string | undefined {
  return tools.find((tool) => !/^[a-zA-Z0-9_-]+$/.test(tool.name))?.name;
}

function systemMessageOf({ systemMessage }: ResumeParams): SessionSettings['systemMessage'] {
  return systemMessage && (withoutNullsDeep(systemMessage) as SessionSettings['systemMessage']);
}

function precedenceOf(before: SessionSettings | undefined): 'excluded' | 'available' {
  return before?.exclusionWins ? 'excluded' : 'available';
}

function largeOutputOf({ largeOutput }: ResumeParams): SessionSettings['largeOutput'] {
  return largeOutput && (withoutNullsDeep(largeOutput) as NonNullable<SessionSettings['largeOutput']>);
}

function pick<K extends string, V>(key: K, value: V | null | undefined): { [P in K]?: V } {
  return value === undefined || value === null ? {} : ({ [key]: value } as { [P in K]?: V });
}
