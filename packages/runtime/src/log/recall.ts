import type { SessionEvent } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';
import { placesOf, plainText, queryWords } from './search-words.js';
import { snippet } from './snippet.js';

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
  const words = queryWords(query);
  let hits: Hit[] = [];
  let newest: string | undefined;
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
      if (event.type === 'user.message' && event.agentId === agentId) newest = event.id;
      const plain = plainText(passage.text);
      const counts = words.map((word) => placesOf(word, plain, mostCounted).length);
      for (const [index, count] of counts.entries())
        if (count > 0) documents[index] = (documents[index] ?? 0) + 1;
      if (counts.some((count) => count > 0)) hits.push({ ...passage, counts });
    }
    if (hits.length > mostCandidates * 2) hits = best(hits, documents).slice(0, mostCandidates);
  }
  if (id !== undefined) return `There is no message with the id ${id}.`;
  const found = answersFirst(withoutCopies(best(hits, documents, newest)), words).slice(0, mostHits);
  if (found.length === 0) return 'Nothing was found. Try other words, or fewer.';
  return found.map((hit, index) => describe(hit, words, index + 1)).join('\n\n');
}

const mostCounted = 10;

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
      const done = calls.map(({ name, arguments: given }) => `${name} ${readable(given)}`);
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

/** Texts of calls as they were written, so that they are found and read word by word. */
function readable(given: unknown): string {
  if (typeof given !== 'object' || given === null) return JSON.stringify(given) ?? '';
  return Object.entries(given)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('\n');
}

/** Rare words count for more, and a passage for more words. What the model has just read comes last. */
function best(hits: readonly Hit[], documents: readonly number[], newest?: string): Hit[] {
  const total = Math.max(1, hits.length);
  const weights = documents.map((count) => Math.log(1 + (total + 1) / (count + 0.5)));
  const score = ({ id, counts, text }: Hit) =>
    id === newest
      ? 0
      : counts.reduce((sum, count, index) => {
          const saturated = count / (count + 0.5 + text.length / 8000);
          return sum + saturated * (weights[index] ?? 0);
        }, 0);
  return hits
    .map((hit, index) => ({ hit, index, score: score(hit) }))
    .sort((one, other) => other.score - one.score || other.index - one.index)
    .map(({ hit }) => hit);
}

/** What someone said several times is found once. */
function withoutCopies(hits: readonly Hit[]): readonly Hit[] {
  const seen = new Set<string>();
  return hits.filter(({ what, text }) => !seen.has(`${what} ${text}`) && seen.add(`${what} ${text}`));
}

/** Earlier questions have the words of this one and say nothing: they come behind what may answer it. */
function answersFirst(hits: readonly Hit[], words: readonly string[]): readonly Hit[] {
  const asked = new Set(words);
  const isQuestion = ({ text }: Hit) => {
    if (text.length > longestQuestion) return false;
    const added = queryWords(text).filter((word) => !asked.has(word)).length;
    return added === 0 || (added <= 2 && /[?？]\s*$/.test(text));
  };
  const candidates = hits.slice(0, mostHits * 10);
  return [...candidates.filter((hit) => !isQuestion(hit)), ...candidates.filter(isQuestion)];
}

const longestQuestion = 1000;

function describe({ id, what, time, text }: Hit, words: readonly string[], number: number): string {
  return `${number}. ${what} (${time}, id ${id}):\n${snippet(text, words, snippetLength)}`;
}
