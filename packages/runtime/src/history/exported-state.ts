import type { FixedSettings } from '../log/fixed-settings.js';
import { stateOfSnapshot } from '../log/snapshot.js';
import { agentOf, initialAgent, initialState, type SessionState } from '../log/state.js';

/** The file beside `events.jsonl` that has the session's state: with it an import continues exactly as the original would. */
export const stateFile = 'groundcrew-state.json';

/** Raised when what an older version wrote can no longer be read. */
const format = 1;

export type ExportedState = SessionState;

/** The text of such a file. */
export function writeExportedState(state: SessionState): string {
  return `${JSON.stringify({ format, state })}\n`;
}

/** No state for a text that is none of a version that is known here, and what of it is not taken over. */
export function parseExportedState(text: string): {
  readonly state?: ExportedState;
  readonly warnings?: readonly string[];
} {
  const state = readState(text);
  if (!state)
    return { warnings: [`${stateFile} cannot be read here: the conversation comes from the events`] };
  const left = leftBehind.filter((name) => state.fixed[name] !== undefined);
  const fixed = Object.fromEntries(
    Object.entries(state.fixed).filter(([name]) => takenOver.has(name as keyof FixedSettings)),
  );
  const warning = `These settings stay behind, and count again when a client that resumes the session names them: ${left.join(', ')}`;
  return { state: { ...state, fixed }, ...(left.length > 0 && { warnings: [warning] }) };
}

/** The file may be a stranger's: what decides where commands run, what runs unasked and where files are is no part of an import. */
const leftBehind = ['fileHooks', 'hosting', 'sandbox', 'skillDirectories'] as const;

const takenOver: ReadonlySet<keyof FixedSettings> = new Set([
  'allowedModels',
  'clientMetadata',
  'clientName',
  'customAgents',
  'disabledSkills',
  'guardedPoints',
  'hasGitHubToken',
  'hasHooks',
  'hasProvider',
  'hasWorkspace',
  'isNamedByUser',
  'mcpServerNames',
  'name',
  'providerNames',
  'skillSwitches',
  'style',
  'subagents',
  'summary',
  'switchesModels',
  'tracksFiles',
]);

function readState(text: string): SessionState | undefined {
  try {
    const read = JSON.parse(text) as { readonly format?: unknown; readonly state?: SessionState } | null;
    const isKnown = read?.format === format && typeof read.state?.agents === 'object';
    const state = isKnown && read.state ? stateOfSnapshot(read.state) : undefined;
    return state && isSound(state) ? state : undefined;
  } catch {
    return undefined;
  }
}

/** What a turn would stumble over is not there. */
function isSound(state: SessionState): boolean {
  const { history, compaction } = agentOf(state);
  return (
    isLike(state, initialState) &&
    isLike(agentOf(state), initialAgent) &&
    isLike(state.permissions, initialState.permissions) &&
    isLike(state.spending, initialState.spending) &&
    history.every(isEntry) &&
    (compaction === undefined || isPinned(compaction.pinned))
  );
}

/** Each field that the pattern has is of the same kind. */
function isLike(value: object, pattern: object): boolean {
  return Object.entries(pattern).every(([name, wanted]) => {
    if (wanted === undefined || wanted === null) return true;
    const found: unknown = (value as Readonly<Record<string, unknown>>)[name];
    return typeof found === typeof wanted && found !== null && Array.isArray(found) === Array.isArray(wanted);
  });
}

type Unchecked<T> = { readonly [K in keyof T]?: unknown };

function isEntry(entry: Unchecked<SessionState['agents'][string]['history'][number]> | null): boolean {
  if (!entry || !isText(entry.eventId)) return false;
  const { role, parts, text, toolCalls, callId } = entry as Readonly<Record<string, unknown>>;
  const hasParts = Array.isArray(parts) && parts.every((part) => isText(part?.type) && isTextPart(part));
  if (role === 'user') return hasParts;
  if (role === 'tool') return isText(text) && isText(callId) && (parts === undefined || hasParts);
  return role === 'assistant' && isText(text) && Array.isArray(toolCalls) && toolCalls.every(isCall);
}

function isTextPart({ type, text }: { readonly type: string; readonly text?: unknown }): boolean {
  return type !== 'text' || isText(text);
}

function isCall(call: Readonly<Record<string, unknown>> | null): boolean {
  return isText(call?.callId) && isText(call?.name) && isText(call?.argumentsText);
}

function isPinned(pinned: unknown): boolean {
  const { messages, rules, files, skills } = (pinned ?? {}) as Readonly<Record<string, unknown>>;
  const areTexts = (list: unknown) =>
    Array.isArray(list) && list.every((each) => isText(each?.eventId) && isText(each?.text));
  return (
    areTexts(messages) &&
    areTexts(rules) &&
    Array.isArray(files) &&
    files.every((file) => isText(file?.path)) &&
    Array.isArray(skills)
  );
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
