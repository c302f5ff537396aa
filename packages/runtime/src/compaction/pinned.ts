import { eventLoopTurn } from '../event-loop-turn.js';
import type { Pinned, PinnedFile, PinnedMessage, PinnedRule } from '../log/pinned.js';
import type { HistoryEntry } from '../log/state.js';
import { ownEntry } from '../own-entry.js';
import { boundedRules, rulesIn, sizesOf } from './rules.js';

/** Adds what is to stay of these entries to what is pinned already. Messages share `room` characters; the first one, the goal, may have `goalRoom`. */
export async function pin(
  before: Pinned,
  entries: readonly HistoryEntry[],
  { room, goalRoom = room / 3 }: { readonly room: number; readonly goalRoom?: number },
): Promise<Pinned> {
  const messages = entries.flatMap(messageOf);
  const rules: PinnedRule[] = [];
  for (const message of messages) {
    for (const rule of await rulesIn(message, room)) rules.push(rule);
    // A long message takes some milliseconds, and a large window has hundreds.
    if (message.text.length > longText) await eventLoopTurn();
  }
  return fitted(
    {
      messages: [...before.messages, ...messages],
      earlier: before.earlier,
      rules: boundedRules(unique([...before.rules, ...rules]), room / 2),
      files: boundedFiles(withFiles(before.files, entries)),
      skills: [...new Set([...before.skills, ...entries.flatMap(skillsIn)])],
    },
    { room, goalRoom },
  );
}

/** Rules whose messages are not pinned as a whole any more: they have to be listed apart. */
export function rulesToList({ messages, rules }: Pinned): readonly PinnedRule[] {
  const whole = new Set(messages.flatMap(({ eventId, isShort }) => (isShort ? [] : [eventId])));
  return rules.filter(({ eventId }) => !whole.has(eventId));
}

const longText = 4000;
const mostFiles = 200;
const mostRead = 50;
const longestLine = 120;

/**
 * The oldest messages become a line each, then a number. The first one stays whole within its own room, whatever there is beside it,
 * and the last one if it fits. The rules of a
 * message that became a line stand beside it, and take room, too.
 */
function fitted(
  pinned: Pinned,
  { room, goalRoom }: { readonly room: number; readonly goalRoom: number },
): Pinned {
  const rules = sizesOf(pinned.rules);
  const listed = rulesToList(pinned).reduce((sum, { text }) => sum + text.length, 0);
  let size = pinned.messages.reduce((sum, { text }) => sum + text.length, listed);
  const last = pinned.messages.length - 1;
  const messages = pinned.messages.map((message, index) => {
    if (size <= room || index === 0 || index === last || message.isShort) return message;
    const text = firstLine(message.text);
    size -= message.text.length - text.length - (rules.get(message.eventId) ?? 0);
    return { ...message, text, isShort: true };
  });
  const [goal, ...rest] = messages;
  let { earlier } = pinned;
  while (size > room && rest.length > 1 && rest[0]?.isShort) {
    size -= rest.shift()?.text.length ?? 0;
    earlier += 1;
  }
  const left = goal ? [goal, ...rest] : [];
  const isGoalWhole = (goal?.text.length ?? 0) <= goalRoom;
  const bounded = left.map((message, index) =>
    index === 0 && isGoalWhole ? message : cutToFit(message, room / 3),
  );
  return { ...pinned, earlier, messages: size > room ? bounded : left };
}

/** A message that fills the room alone keeps its beginning and its end; without that, no summary would make a window shorter. */
function cutToFit(message: PinnedMessage, most: number): PinnedMessage {
  const { text } = message;
  if (text.length <= most) return message;
  const half = Math.floor(most / 2);
  const left = text.length - 2 * half;
  const gap = `\n[… ${left} characters are left out here; recall opens the whole message …]\n`;
  const [start, end] = [text.slice(0, half), text.slice(-half)];
  const whole = `${start.replace(/[\ud800-\udbff]$/, '')}${gap}${end.replace(/^[\udc00-\udfff]/, '')}`;
  return { ...message, text: whole, isShort: true };
}

function firstLine(text: string): string {
  const [line = ''] = text.trimStart().split('\n', 1);
  return line.length > longestLine ? `${line.slice(0, longestLine)}…` : line;
}

/** What the user said, less what the runtime put around it. */
function messageOf(entry: HistoryEntry): readonly PinnedMessage[] {
  if (entry.role !== 'user' || entry.isNotice) return [];
  const [first] = entry.parts;
  const text = first?.type === 'text' ? first.text : '';
  const said = withoutReminder(
    withoutNotice(text.replace(/<current_datetime>[^<]*<\/current_datetime>\s*/, '')),
  ).replace(/^\[\[PLAN\]\] /, '');
  return said === '' ? [] : [{ eventId: entry.eventId, text: said }];
}

// A pattern for these would look for an end behind each beginning, and users may write as many as they like.

function withoutNotice(text: string): string {
  const [start, end] = ['<tools_changed_notice>', '</tools_changed_notice>'];
  const from = text.indexOf(start);
  const to = from < 0 ? -1 : text.indexOf(end, from + start.length);
  return to < 0 ? text : text.slice(0, from) + text.slice(to + end.length).trimStart();
}

function withoutReminder(text: string): string {
  const from = text.indexOf('<system_reminder>');
  const isLast = from >= 0 && text.trimEnd().endsWith('</system_reminder>');
  return isLast ? text.slice(0, from).trimEnd() : text;
}

function unique(rules: readonly PinnedRule[]): readonly PinnedRule[] {
  const seen = new Set<string>();
  return rules.filter(({ text }) => !seen.has(text) && seen.add(text));
}

/** What tools did to files; a call that failed, or was not allowed, did nothing. */
function withFiles(files: readonly PinnedFile[], entries: readonly HistoryEntry[]): readonly PinnedFile[] {
  const results = new Map(
    entries.flatMap((entry) => (entry.role === 'tool' ? [[entry.callId, entry.text] as const] : [])),
  );
  const known = new Map(files.map((file) => [file.path, file]));
  for (const entry of entries) {
    if (entry.role !== 'assistant') continue;
    for (const { callId, name, argumentsText } of entry.toolCalls) {
      const done = ownEntry(fileCalls, name);
      const path = done?.isDone(results.get(callId) ?? '') ? pathIn(argumentsText) : undefined;
      if (!done || path === undefined) continue;
      const before = known.get(path) ?? { path, created: false, edits: 0 };
      known.delete(path);
      known.set(path, done.after(before));
    }
  }
  return [...known.values()];
}

interface FileCall {
  /** By what the tool answered. */
  isDone(answer: string): boolean;
  after(file: PinnedFile): PinnedFile;
}

const fileCalls: Readonly<Record<string, FileCall>> = {
  create: {
    isDone: (answer) => answer.startsWith('Created file '),
    after: (file) => ({ ...file, created: true }),
  },
  edit: {
    isDone: (answer) => answer.startsWith('File ') && answer.includes(' updated with changes.'),
    after: (file) => ({ ...file, edits: file.edits + 1 }),
  },
  view: { isDone: () => true, after: (file) => ({ ...file, reads: (file.reads ?? 0) + 1 }) },
};

/** The newest files: more of those that were changed, fewer of those that were only read. */
function boundedFiles(files: readonly PinnedFile[]): readonly PinnedFile[] {
  const isChanged = ({ created, edits }: PinnedFile) => created || edits > 0;
  const kept = new Set([
    ...files.filter(isChanged).slice(-mostFiles),
    ...files.filter((file) => !isChanged(file)).slice(-mostRead),
  ]);
  return files.filter((file) => kept.has(file));
}

function pathIn(argumentsText: string): string | undefined {
  try {
    const { path } = JSON.parse(argumentsText) as { readonly path?: unknown };
    return typeof path === 'string' ? path : undefined;
  } catch {
    // A call whose arguments are no JSON did nothing.
    return undefined;
  }
}

function skillsIn(entry: HistoryEntry): readonly string[] {
  const [first] = entry.role === 'user' ? entry.parts : [];
  const name = first?.type === 'text' ? /^<skill-context name="([^"]+)"/.exec(first.text)?.[1] : undefined;
  return name === undefined ? [] : [name];
}
