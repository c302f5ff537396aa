import { resolve } from 'node:path';
import type { JsonObject, Methods, ParsedParams } from '@groundcrew/protocol';
import type { ClientCommand, SessionSettings, SystemMessage, ToolDeclaration } from '@groundcrew/runtime';
import type { Share } from './client.js';

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
  const provider = params.provider
    ? (withoutNullsDeep(params.provider) as SessionSettings['provider'])
    : before?.provider;
  const systemMessage = params.systemMessage
    ? (withoutNullsDeep(params.systemMessage) as SystemMessage)
    : before?.systemMessage;
  const trace = {
    ...(params.traceparent !== undefined && { traceparent: params.traceparent }),
    ...(params.tracestate !== undefined && { tracestate: params.tracestate }),
  };
  return {
    clientName: params.clientName ?? before?.clientName ?? 'sdk',
    workingDirectory: resolve(workingDirectory, params.workingDirectory ?? before?.workingDirectory ?? ''),
    streaming: params.streaming ?? before?.streaming ?? false,
    exclusionWins: params.toolFilterPrecedence === 'excluded' || (before?.exclusionWins ?? false),
    hasWorkspace: params.infiniteSessions?.enabled ?? before?.hasWorkspace ?? true,
    trace: params.traceparent === undefined ? (before?.trace ?? trace) : trace,
    other: { ...before?.other, ...unusedOf(params) },
    ...pick('model', params.model ?? before?.model),
    ...pick('reasoningEffort', params.reasoningEffort ?? before?.reasoningEffort),
    ...pick('modelCapabilities', capabilitiesOf(params) ?? before?.modelCapabilities),
    ...pick('isAskingDisabled', params.askUserDisabled ?? before?.isAskingDisabled),
    ...pick('provider', provider),
    ...pick('gitHubToken', params.gitHubToken ?? before?.gitHubToken),
    ...pick('systemMessage', systemMessage),
    ...pick('availableTools', params.availableTools ?? before?.availableTools),
    ...pick('excludedTools', params.excludedTools ?? before?.excludedTools),
    ...pick(
      'defaultAgentExcludedTools',
      params.defaultAgent?.excludedTools ?? before?.defaultAgentExcludedTools,
    ),
    ...pick('configDir', params.configDir ?? before?.configDir),
    ...pick(
      'additionalDirectories',
      directoriesFrom(params, workingDirectory) ?? before?.additionalDirectories,
    ),
  };
}

/** What a client says of a model, as far as the runtime goes by it. */
export function capabilitiesOf({
  modelCapabilities,
}: Pick<ResumeParams, 'modelCapabilities'>): SessionSettings['modelCapabilities'] {
  const vision = modelCapabilities?.supports?.vision;
  return typeof vision === 'boolean' ? { supports: { vision } } : undefined;
}

/** Directories that are named from somewhere are named from where the session works. */
function directoriesFrom(
  { additionalDirectories, workingDirectory }: ResumeParams,
  fallback: string,
): readonly string[] | undefined {
  const from = resolve(fallback, workingDirectory ?? '');
  return additionalDirectories?.map((directory) => resolve(from, directory));
}

/** What the client brings to the session. */
export function shareFrom(params: ResumeParams): Share {
  return {
    tools: (params.tools ?? []).map((tool) => withoutNullsDeep(tool) as unknown as ToolDeclaration),
    requestPermission: params.requestPermission ?? false,
    requestUserInput: params.requestUserInput ?? false,
    elicitation: params.requestElicitation ?? false,
    commands: (params.commands ?? []).map((command) => withoutNullsDeep(command) as ClientCommand),
    isOld: params.toolFilterPrecedence === undefined,
  };
}

/** The first name that no model service would take. */
export function badToolName(tools: readonly ToolDeclaration[]): string | undefined {
  return tools.find((tool) => !/^[a-zA-Z0-9_-]+$/.test(tool.name))?.name;
}

/** Kept by name, so that a later part of the house finds what the client said. */
function unusedOf(params: ResumeParams): JsonObject {
  const {
    hooks,
    mcpServers,
    customAgents,
    agent,
    skillDirectories,
    disabledSkills,
    infiniteSessions,
    largeOutput,
  } = params;
  const kept = {
    hooks,
    mcpServers,
    customAgents,
    agent,
    skillDirectories,
    disabledSkills,
    infiniteSessions,
    largeOutput,
  };
  return Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)) as JsonObject;
}

function pick<K extends string, V>(key: K, value: V | null | undefined): { [P in K]?: V } {
  return value === undefined || value === null ? {} : ({ [key]: value } as { [P in K]?: V });
}

/** What a client says by `null` it could as well have left out, at any depth. */
function withoutNullsDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNullsDeep);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null && each !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, withoutNullsDeep(each)]));
}
