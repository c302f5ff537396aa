import type { Pinned, PinnedFile, PinnedMessage, PinnedRule } from '../log/pinned.js';
import type { HistoryEntry } from '../log/state.js';

/** What stays of these entries beside what stayed before; messages in as many characters as there is room for. */
export function pin(before: Pinned, entries: readonly HistoryEntry[], room: number): Pinned {
  const messages = entries.flatMap(messageOf);
  return fitted(
    {
      messages: [...before.messages, ...messages],
      earlier: before.earlier,
      rules: boundedRules(unique([...before.rules, ...messages.flatMap(rulesIn)]), room / 2),
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

/**
 * The oldest messages become a line each, then a number; the first one and the last one stay as they are. The rules of a
 * message that became a line stand beside it, and take room, too.
 */
function fitted(pinned: Pinned, room: number): Pinned {
  const rules = sizesOf(pinned.rules);
  const loose = looseRules(pinned).reduce((sum, { text }) => sum + text.length, 0);
  let size = pinned.messages.reduce((sum, { text }) => sum + text.length, loose);
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

/**
 * All of them, as long as they fit. Texts that users paste are full of sentences that sound like rules: of the messages that have
 * the most of them, no more is kept than these first characters, until the others have room.
 */
function boundedRules(rules: readonly PinnedRule[], room: number): readonly PinnedRule[] {
  const sizes = sizesOf(rules);
  let total = rules.reduce((sum, { text }) => sum + text.length, 0);
  const cut = new Set<string>();
  for (const [eventId, size] of [...sizes].sort(([, one], [, other]) => other - one)) {
    if (total <= room || size <= keptOfPaste) break;
    cut.add(eventId);
    total -= size - keptOfPaste;
  }
  if (cut.size === 0) return rules;
  const kept = new Map<string, number>();
  return rules.filter(({ eventId, text }) => {
    const before = kept.get(eventId) ?? 0;
    kept.set(eventId, before + text.length);
    return !cut.has(eventId) || before + text.length <= keptOfPaste;
  });
}

const keptOfPaste = 1000;

/** Characters of rules, by the message that has them. */
function sizesOf(rules: readonly PinnedRule[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { eventId, text } of rules) sizes.set(eventId, (sizes.get(eventId) ?? 0) + text.length);
  return sizes;
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
