import type {
  EventData,
  EventType,
  PermissionInvocation,
  PermissionRequest,
  SessionEvent,
  TranscriptAgent,
  TranscriptNotice,
} from '@groundcrew/sdk';
import { entryOf } from '../flags/arguments.js';
import { shortened, visible } from './visible.js';

/** What a question for permission is about, in full: users cannot allow what is cut off. */
export function describeRequest(request: PermissionRequest): string {
  // The table has the teller of each kind; which one this is, is known only now.
  const describe = entryOf(requests as Readonly<Record<string, (request: never) => string>>, request.kind);
  return visible(describe?.(request as never) ?? request.kind);
}

/** What was denied because no user was there to be asked, and the flag that would permit it. */
export function describeDenial(
  request: PermissionRequest,
  { promptRequest }: Pick<PermissionInvocation, 'promptRequest'>,
): string {
  if (promptRequest?.kind !== 'path')
    return `denied: ${describeRequest(request)} (--allow ${request.kind} would permit it)`;
  const { accessKind, paths } = promptRequest;
  const flag = paths.length === 1 ? `--allow 'path(${paths[0]})'` : '--allow-all';
  const verb = accessKind === 'write' ? 'write' : 'look';
  return visible(
    `denied: ${verb} outside the working directory: ${paths.join(', ')} (${flag} would permit it)`,
  );
}

/** What users read about an event while a turn runs; undefined when that is nothing. */
export function describeEvent({ type, data }: SessionEvent): string | undefined {
  // As above: the type names the teller that knows the data.
  const describe = entryOf(activity as Readonly<Record<string, (data: never) => string | undefined>>, type);
  const text = describe?.(data as never);
  return text === undefined ? undefined : visible(text);
}

/** One tool call on a line: its name and its arguments, shortened. */
export function describeTool({
  name,
  arguments: given,
  display,
}: {
  readonly name: string;
  readonly arguments?: unknown;
  readonly display?: string | undefined;
}): string {
  return `› ${name}${display ? ` ${display}` : shortened(inJson(given), 200)}`;
}

/** A sub-agent on a line: its name, how it stands, and what it took. */
export function describeAgent(
  agent: Pick<TranscriptAgent, 'id' | 'name' | 'displayName' | 'state' | 'tokens' | 'milliseconds' | 'error'>,
): string {
  const { displayName, name, id = '', state, tokens, milliseconds, error } = agent;
  const facts = [
    error === undefined ? state : `${state}: ${error}`,
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(milliseconds === undefined ? [] : [`${(milliseconds / 1000).toFixed(1)} s`]),
  ];
  return `» ${displayName ?? name ?? id} (${facts.join(', ')})`;
}

/** A line beside the conversation. */
export function describeNotice({
  level,
  kind,
  text,
}: Pick<TranscriptNotice, 'level' | 'kind' | 'text'>): string {
  if (level !== 'info') return `${level}: ${text}`;
  const isPlain = kind === 'notification' || kind === 'compaction';
  return `${isPlain ? 'note' : kind.replaceAll('_', ' ')}: ${text}`;
}

type Asked<K> = Extract<PermissionRequest, { readonly kind: K }>;

const requests: { readonly [K in PermissionRequest['kind']]?: (request: Asked<K>) => string } = {
  shell: ({ fullCommandText, warning }) =>
    [`run ${fullCommandText}`, ...(warning === undefined ? [] : [`(${warning})`])].join(' '),
  write: ({ fileName }) => `write ${fileName}`,
  read: ({ path }) => `read ${path}`,
  url: ({ url }) => `fetch ${url}`,
  mcp: ({ serverName, toolName, args }) => `call ${toolName} of ${serverName}${inJson(args)}`,
  'custom-tool': ({ toolName, args }) => `call ${toolName}${inJson(args)}`,
  memory: ({ fact }) => `remember: ${fact}`,
  hook: ({ toolName, toolArgs, hookMessage }) =>
    `call ${toolName}${inJson(toolArgs)}${hookMessage === undefined ? '' : ` (${hookMessage})`}`,
};

const activity: { readonly [K in EventType]?: (data: EventData<K>) => string | undefined } = {
  'tool.execution_start': ({ toolName: name, arguments: given, shellToolInfo }) =>
    describeTool({ name, arguments: given, display: shellToolInfo?.displayCommand }),
  'tool.execution_complete': ({ success, error }) =>
    success ? undefined : `  failed: ${error?.message ?? 'no reason was given'}`,
  'tool.execution_progress': ({ progressMessage }) => `  ${progressMessage}`,
  'session.error': ({ errorType, message }) =>
    // Every other one ends a turn, and is shown at its end.
    errorType === 'notification' ? `error: ${message}` : undefined,
  'session.warning': ({ warningType: kind, message: text }) =>
    describeNotice({ level: 'warning', kind, text }),
  'session.info': ({ infoType: kind, message: text }) => describeNotice({ level: 'info', kind, text }),
  'session.compaction_start': () => 'note: the conversation is being summarised',
  'session.compaction_complete': ({ success, error = 'no reason was given' }) =>
    success ? undefined : `warning: the conversation was not summarised: ${error}`,
};

function inJson(value: unknown): string {
  if (value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0))
    return '';
  return ` ${JSON.stringify(value)}`;
}
