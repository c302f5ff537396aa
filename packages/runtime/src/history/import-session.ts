import { readFile, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import type { SessionEvent } from '@groundcrew/protocol';
import { isSafeId, type LogRecord, type Owner, type SessionStore } from '@groundcrew/store';
import { coveredLength } from '../compaction/covered.js';
import { pin } from '../compaction/pinned.js';
import { compactedMessage } from '../compaction/summary.js';
import { noteJson } from '../log/entry.js';
import { nothingPinned } from '../log/pinned.js';
import { agentOf, type SessionState } from '../log/state.js';
import { absent } from '../workspace/absent.js';
import { CannotImport, EventLines, firstEvent } from './event-lines.js';
import { type ExportedState, parseExportedState, stateFile } from './exported-state.js';
import { stateOfCopy } from './fork.js';
import { writeLog } from './new-log.js';

/** Where a session is read from, and under which id it is kept; its own one unless another is given. */
export interface ImportRequest {
  /** A directory with `events.jsonl`, or such a file. */
  readonly path: string;
  readonly sessionId?: string | undefined;
  onProgress?(progress: { readonly bytes: number; readonly of: number }): void;
}

/** A session that was read. */
export interface ImportedSession {
  readonly sessionId: string;
  readonly events: number;
  readonly warnings: readonly string[];
  /** The directory that its files are in; undefined for a file of events alone. */
  readonly directory?: string;
}

/** What the other files of the directory say of the session. */
interface DirectoryFacts {
  readonly id?: string;
  readonly name?: string;
  readonly isNamed?: boolean;
  readonly clientName?: string;
  readonly cwd?: string;
  readonly state?: ExportedState;
  /** What of it is not taken over. */
  readonly warnings?: readonly string[];
}

/** Room that user messages have in a summary, where no window is known: a third of one of 128,000 tokens. */
const pinnedCharacters = 170_000;

/**
 * Writes the events of a file, each line as it stands, as a session that can be continued. The model's conversation
 * comes from an exported state where it belongs to these very events, and else from the events.
 */
export async function importLog(
  { store, owner }: { readonly store: SessionStore; readonly owner: Owner },
  request: ImportRequest,
): Promise<ImportedSession> {
  if (!isAbsolute(request.path)) throw new CannotImport(`path must be absolute, not ${request.path}`);
  const path = resolve(request.path);
  const { file, size } = await fileOf(path);
  const directory = basename(file) === 'events.jsonl' ? dirname(file) : undefined;
  const facts = directory === undefined ? {} : await readFacts(directory);
  const first = await firstEvent(file);
  const own = ownId(first) ?? facts.id;
  const sessionId = request.sessionId ?? own;
  if (sessionId === undefined)
    throw new CannotImport(`${file} begins with no session.start: say under which id it is to be kept`);
  if (!isSafeId(sessionId)) throw new CannotImport(`A session cannot have the id ${sessionId}`);
  await freeId(store, sessionId);
  const reading = new EventLines(file, { size, onProgress: request.onProgress });
  const records = (state: () => SessionState) =>
    recordsOf(reading, { sessionId, isRenamed: sessionId !== own, facts, state });
  try {
    await writeLog(store, { sessionId, owner, records, finish: (state) => continued(state, facts) });
  } catch (error) {
    await store.remove(sessionId, owner);
    throw error;
  }
  const { events } = reading;
  const warnings = [...(facts.warnings ?? []), ...reading.warnings];
  return { sessionId, events, warnings, ...(directory !== undefined && { directory }) };
}

async function fileOf(path: string): Promise<{ readonly file: string; readonly size: number }> {
  const found = await stat(path).catch(absent);
  if (!found) throw new CannotImport(`There is nothing at ${path}`);
  const file = found.isDirectory() ? join(path, 'events.jsonl') : path;
  const events = await stat(file).catch(absent);
  if (!events) throw new CannotImport(`There is no events.jsonl in ${path}`);
  // It is read twice, and to its end: a pipe or a device has no such thing.
  if (!events.isFile()) throw new CannotImport(`${file} is no file`);
  return { file, size: events.size };
}

/** Removes what an interrupted import left under this id, or a session without a prompt. Throws CannotImport for any other session. */
async function freeId(store: SessionStore, sessionId: string): Promise<void> {
  const { items } = await store.list({ sessionId, includeEmpty: true });
  const [known] = items;
  if (!known) return;
  if (known.head.userTurns > 0 || known.owner)
    throw new CannotImport(`There is a session ${sessionId} already; import it under another id`);
  await store.remove(sessionId);
}

/** The records of a session: its settings, its events, and after each summary what took the place of the history. */
async function* recordsOf(
  reading: EventLines,
  {
    sessionId,
    isRenamed,
    facts,
    state,
  }: {
    readonly sessionId: string;
    readonly isRenamed: boolean;
    readonly facts: DirectoryFacts;
    readonly state: () => SessionState;
  },
): AsyncGenerator<readonly Omit<LogRecord, 'seq'>[]> {
  const { name, isNamed = false, clientName } = facts;
  const data = {
    ...(clientName !== undefined && { clientName }),
    ...(name !== undefined && { name, isNamedByUser: isNamed }),
  };
  yield [{ isPublic: false, type: 'settings.fixed', json: noteJson({ note: 'settings.fixed', data }) }];
  let covered: readonly string[] = [];
  for await (const { event, line } of reading.lines()) {
    const isStart = event.type === 'session.start' && isRenamed;
    const json = isStart ? JSON.stringify({ ...event, data: { ...event.data, sessionId } }) : line;
    yield [{ isPublic: true, type: event.type, json }];
    if (event.agentId !== undefined) continue;
    const { history } = agentOf(state());
    if (event.type === 'session.compaction_start')
      covered = history.slice(0, coveredLength(history, 0)).map(({ eventId }) => eventId);
    if (event.type === 'session.compaction_complete') yield await compactedBy(event, state(), covered);
  }
}

async function compactedBy(
  { data }: Extract<SessionEvent, { type: 'session.compaction_complete' }>,
  state: SessionState,
  coveredIds: readonly string[],
): Promise<readonly Omit<LogRecord, 'seq'>[]> {
  const { history, compaction } = agentOf(state);
  const lastEventId = coveredIds.at(-1);
  const { success, summaryContent: summary } = data;
  if (!success || summary === undefined || lastEventId === undefined) return [];
  const covered = history.slice(0, history.findIndex(({ eventId }) => eventId === lastEventId) + 1);
  const pinned = await pin(compaction?.pinned ?? nothingPinned, covered, { room: pinnedCharacters });
  const open = { todos: [], questions: [] };
  const text = compactedMessage(summary, { pinned, open, isPartial: true });
  const note = { note: 'history.compacted', data: { lastEventId, text, pinned } } as const;
  return [{ isPublic: false, type: note.note, json: noteJson(note) }];
}

/** The state that the imported session starts from: without open work and approvals. */
function continued(added: SessionState, { state, cwd }: DirectoryFacts): SessionState {
  const isOfThese = state !== undefined && state.lastEventId === added.lastEventId;
  const source = isOfThese ? { ...state, fixed: { ...state.fixed, ...added.fixed } } : added;
  const context = added.context.cwd === '' && cwd !== undefined ? { cwd } : added.context;
  const { spending } = source;
  return {
    ...stateOfCopy(added, { ...source, context }),
    spending,
    createdAt: added.createdAt || added.modifiedAt,
    codeChanges: source.codeChanges,
  };
}

function ownId(event: SessionEvent | undefined): string | undefined {
  if (event?.type !== 'session.start') return undefined;
  const { sessionId } = event.data;
  return typeof sessionId === 'string' && sessionId !== '' ? sessionId : undefined;
}

async function readFacts(directory: string): Promise<DirectoryFacts> {
  const [settings, state] = await Promise.all([
    readFile(join(directory, 'workspace.yaml'), 'utf8').catch(absent),
    readFile(join(directory, stateFile), 'utf8').catch(absent),
  ]);
  const exported = state === undefined ? {} : parseExportedState(state);
  return { ...(await readWorkspace(settings)), ...exported };
}

async function readWorkspace(text: string | undefined): Promise<DirectoryFacts> {
  if (text === undefined) return {};
  const { parse } = await import('yaml');
  const given = parse(text, { maxAliasCount: 10 }) as Readonly<Record<string, unknown>> | null;
  const textIn = (name: string) => {
    const value = given?.[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const [id, name, cwd, clientName] = ['id', 'name', 'cwd', 'client_name'].map(textIn);
  return {
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name, isNamed: given?.user_named === true }),
    ...(cwd !== undefined && { cwd }),
    ...(clientName !== undefined && { clientName }),
  };
}
