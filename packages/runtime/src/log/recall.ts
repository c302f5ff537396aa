import type { SessionEvent } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';

/** What is looked for: words, or one event. */
export interface RecallRequest {
  readonly query: string;
  readonly id?: string | undefined;
  /** The agent that looks for it; undefined for the root agent. */
  readonly agentId?: string | undefined;
  /** Whether it may see what another agent said and did. */
  sees?(agentId: string | undefined): boolean;
}

/** Something that was said or done. */
interface Passage {
  readonly id: string;
  readonly what: string;
  readonly time: string;
  readonly text: string;
}

interface Hit extends Passage {
  /** How often each word of the query occurs. */
  readonly counts: readonly number[];
}

const mostHits = 5;
const mostCandidates = 400;
const snippetLength = 700;

/** Finds passages of a session's log, the best first; the newer of two that are as good. */
export async function recall(
  records: AsyncIterable<readonly LogRecord[]>,
  { query, id, agentId, sees = () => true }: RecallRequest,
  signal: AbortSignal,
): Promise<string> {
  const words = wordsOf(query);
  let hits: Hit[] = [];
  const ownCalls = new Set<string>();
  const documents = words.map(() => 0);
  for await (const batch of records) {
    signal.throwIfAborted();
    for (const record of batch) {
      if (!record.isPublic || !kinds.has(record.type)) continue;
      if (id !== undefined && !record.json.includes(id)) continue;
      const event = JSON.parse(record.json) as SessionEvent; // as we stored it
      if (event.agentId !== agentId && !sees(event.agentId)) continue;
      const passage = passageOf(event, { ownCalls, isOwn: event.agentId === agentId });
      if (!passage) continue;
      if (id !== undefined) {
        if (passage.id === id) return `${passage.what} (${passage.time}):\n${passage.text}`;
        continue;
      }
      const counts = countsIn(passage.text, words);
      for (const [index, count] of counts.entries())
        if (count > 0) documents[index] = (documents[index] ?? 0) + 1;
      if (counts.some((count) => count > 0)) hits.push({ ...passage, counts });
    }
    if (hits.length > mostCandidates * 2) hits = best(hits, documents).slice(0, mostCandidates);
  }
  if (id !== undefined) return `There is no message with the id ${id}.`;
  const found = best(hits, documents).slice(0, mostHits);
  if (found.length === 0) return 'Nothing was found. Try other words, or fewer.';
  return found.map((hit, index) => describe(hit, words, index + 1)).join('\n\n');
}

const kinds = new Set([
  'user.message',
  'assistant.message',
  'tool.execution_start',
  'tool.execution_complete',
]);

/** Searches of the past are no part of it. */
function passageOf(
  event: SessionEvent,
  { ownCalls, isOwn }: { readonly ownCalls: Set<string>; readonly isOwn: boolean },
): Passage | undefined {
  const { id, timestamp: time, agentId } = event;
  switch (event.type) {
    case 'user.message':
      return { id, time, what: saidTo(agentId, isOwn), text: event.data.content };
    case 'assistant.message': {
      const calls = (event.data.toolRequests ?? []).filter(({ name }) => name !== 'recall');
      const done = calls.map(({ name, arguments: given }) => `${name} ${JSON.stringify(given)}`);
      const text = [event.data.content, ...done].filter((part) => part !== '').join('\n');
      return text === '' ? undefined : { id, time, what: isOwn ? 'You said' : 'Another agent said', text };
    }
    case 'tool.execution_start':
      if (event.data.toolName === 'recall') ownCalls.add(event.data.toolCallId);
      return undefined;
    case 'tool.execution_complete': {
      const { toolCallId, result, error } = event.data;
      const text = result?.content ?? error?.message ?? '';
      const what = isOwn ? 'A tool answered' : 'A tool answered another agent';
      return ownCalls.has(toolCallId) ? undefined : { id, time, what, text };
    }
    default:
      return undefined;
  }
}

/** Only the root agent talks with the user. */
function saidTo(agentId: string | undefined, isOwn: boolean): string {
  if (agentId === undefined) return 'The user said';
  return isOwn ? 'You were told' : 'Another agent was told';
}

/** Rare words count for more, and a passage for more words. */
function best(hits: readonly Hit[], documents: readonly number[]): Hit[] {
  const total = Math.max(1, hits.length);
  const weights = documents.map((count) => Math.log(1 + (total + 1) / (count + 0.5)));
  const score = ({ counts, text }: Hit) =>
    counts.reduce((sum, count, index) => {
      const saturated = count / (count + 0.5 + text.length / 8000);
      return sum + saturated * (weights[index] ?? 0);
    }, 0);
  return hits
    .map((hit, index) => ({ hit, index, score: score(hit) }))
    .sort((one, other) => other.score - one.score || other.index - one.index)
    .map(({ hit }) => hit);
}

function countsIn(text: string, words: readonly string[]): readonly number[] {
  const lower = text.toLowerCase();
  return words.map((word) => {
    let count = 0;
    for (let at = lower.indexOf(word); at >= 0 && count < 10; at = lower.indexOf(word, at + word.length))
      count += 1;
    return count;
  });
}

const longestQuery = 50;
const commonWords = new Set(
  'a an and are as at be by did do does for from has have how i in is it me my of on or that the this to was we what when where which who why will with you your'.split(
    ' ',
  ),
);

function wordsOf(query: string): readonly string[] {
  const all = query.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_./:-]*/gu) ?? [];
  const rare = all.filter((word) => !commonWords.has(word));
  return [...new Set(rare.length > 0 ? rare : all)].slice(0, longestQuery);
}

function describe({ id, what, time, text }: Hit, words: readonly string[], number: number): string {
  return `${number}. ${what} (${time}, id ${id}):\n${snippet(text, words)}`;
}

/** The part of a text in which most of the words stand. */
export function snippet(text: string, words: readonly string[], length = snippetLength): string {
  if (text.length <= length) return text;
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
  const inWindow = (start: number) =>
    places.filter((place) => place >= start && place < start + length).length;
  const starts = places.map((place) => Math.max(0, place - length / 4));
  const start = Math.floor(starts.sort((one, other) => inWindow(other) - inWindow(one))[0] ?? 0);
  const end = start + length;
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`;
}
