import type { Pinned, PinnedFile, PinnedMessage, PinnedRule } from '../log/pinned.js';
import type { HistoryEntry } from '../log/state.js';

/** What stays of these entries beside what stayed before; messages in as many characters as there is room for. */
export function pin(before: Pinned, entries: readonly HistoryEntry[], room: number): Pinned {
  const messages = entries.flatMap(messageOf);
  return fitted(
    {
      messages: [...before.messages, ...messages],
      earlier: before.earlier,
      rules: unique([...before.rules, ...messages.flatMap(rulesIn)]),
      files: entries.reduce(withFiles, before.files).slice(-mostFiles),
      skills: [...new Set([...before.skills, ...entries.flatMap(skillsIn)])],
    },
    room,
  );
}

/** Rules whose messages are no longer there as a whole. */
export function looseRules({ messages, rules }: Pinned): readonly PinnedRule[] {
  const whole = new Set(messages.flatMap(({ eventId, isShort }) => (isShort ? [] : [eventId])));
  return rules.filter(({ eventId }) => !whole.has(eventId));
}

const mostFiles = 200;
const longestLine = 120;

/** The oldest messages become a line each, then a number; the first one and the last one stay as they are. */
function fitted(pinned: Pinned, room: number): Pinned {
  let size = pinned.messages.reduce((sum, { text }) => sum + text.length, 0);
  const last = pinned.messages.length - 1;
  const messages = pinned.messages.map((message, index) => {
    if (size <= room || index === 0 || index === last || message.isShort) return message;
    const text = firstLine(message.text);
    size -= message.text.length - text.length;
    return { ...message, text, isShort: true };
  });
  const [goal, ...rest] = messages;
  let { earlier } = pinned;
  while (size > room && rest.length > 1 && rest[0]?.isShort) {
    size -= rest.shift()?.text.length ?? 0;
    earlier += 1;
  }
  return { ...pinned, earlier, messages: goal ? [goal, ...rest] : [] };
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
  const said = text
    .replace(/<current_datetime>[^<]*<\/current_datetime>\s*/, '')
    .replace(/<tools_changed_notice>[\s\S]*?<\/tools_changed_notice>\s*/, '')
    .replace(/\s*<system_reminder>[\s\S]*?<\/system_reminder>\s*$/, '')
    .replace(/^\[\[PLAN\]\] /, '');
  return said === '' ? [] : [{ eventId: entry.eventId, text: said }];
}

/** Words by which users give rules that are to hold from then on. */
const ruleWords =
  /\b(?:always|never|must|mustn't|do not|don't|should|shouldn't|from now on|make sure|ensure|remember|rule|rules|prefer|avoid|only|whenever|required?|forbidden|not allowed|no longer|at all times|under no circumstances|instead of|stick to|convention|policy|immer|niemals|nie|nicht|muss|nur|statt)\b/i;

const longestRule = 2000;

/** Rules stand before or after what is pasted; what is longer is not read whole, which would hold the thread. */
const longestEnd = 32 * 1024;

function rulesIn({ eventId, text }: PinnedMessage): readonly PinnedRule[] {
  const isLong = text.length > 2 * longestEnd;
  const read = isLong ? `${text.slice(0, longestEnd)}\n${text.slice(-longestEnd)}` : text;
  return read
    .split(/(?<=[.!?])\s+|\n+/)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length > 3 && sentence.length <= longestRule && ruleWords.test(sentence))
    .map((sentence) => ({ eventId, text: sentence }));
}

function unique(rules: readonly PinnedRule[]): readonly PinnedRule[] {
  const seen = new Set<string>();
  return rules.filter(({ text }) => !seen.has(text) && seen.add(text));
}

function withFiles(files: readonly PinnedFile[], entry: HistoryEntry): readonly PinnedFile[] {
  if (entry.role !== 'assistant') return files;
  return entry.toolCalls.reduce((known, { name, argumentsText }) => {
    const path = writers.has(name) ? pathIn(argumentsText) : undefined;
    if (path === undefined) return known;
    const before = known.find((file) => file.path === path) ?? { path, created: false, edits: 0 };
    const after = name === 'create' ? { ...before, created: true } : { ...before, edits: before.edits + 1 };
    return [...known.filter((file) => file.path !== path), after];
  }, files);
}

const writers = new Set(['create', 'edit']);

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
