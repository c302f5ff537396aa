import { eventLoopTurn } from '../event-loop-turn.js';
import type { PinnedMessage, PinnedRule } from '../log/pinned.js';
import { soundsLasting, soundsLikeInstruction, soundsLikeRule } from './rule-words.js';

const shortestSentence = 4;
const shortLine = 400;
/** So much is read at once: others have their turn in between. */
const stretch = 8 * 1024;
/** The least that one rule may have, whatever the window. */
const longestRule = 2000;

/** The sentences of a message that sound like rules; and what stands in a list below one of them. */
export async function rulesIn(
  { eventId, text }: PinnedMessage,
  room: number,
): Promise<readonly PinnedRule[]> {
  const longest = Math.max(longestRule, room / 8);
  const rules: PinnedRule[] = [];
  let isListed = false;
  let read = 0;
  for (const line of linesOf(text)) {
    read += line.length;
    if (read > stretch) {
      read = 0;
      await eventLoopTurn();
    }
    if (isListed && isItem.test(line) && line.length <= longest) {
      rules.push({ eventId, text: line.trim() });
      continue;
    }
    isListed = false;
    // Where a sentence ends is hard to say: a short line stays whole.
    for (const sentence of line.length <= shortLine ? [line.trim()] : sentencesOf(line)) {
      if (sentence.length < shortestSentence || sentence.length > longest) continue;
      if (soundsLikeRule(sentence)) {
        rules.push({ eventId, text: sentence });
        isListed = endsInColon.test(sentence);
      } else if (soundsLikeInstruction(sentence)) rules.push({ eventId, text: sentence, isLikely: true });
    }
  }
  return rules;
}

/** A line that is longer than what is read at once comes in pieces, cut where a sentence or a word ends. */
function* linesOf(text: string): Generator<string> {
  for (const line of text.split(/\n+/)) {
    let rest = line;
    while (rest.length > stretch) {
      const piece = rest.slice(0, stretch);
      const end = [piece.lastIndexOf('. ') + 1, piece.lastIndexOf('。') + 1, piece.lastIndexOf(' ')];
      const at = end.find((each) => each > stretch / 2) ?? stretch;
      yield rest.slice(0, at);
      rest = rest.slice(at);
    }
    yield rest;
  }
}

const endsInColon = /[:：]$/;
const isItem = /^\s*(?:[-*•–]|\d+[.)]|[a-z][.)])\s/i;

/** A stop that a small letter follows ends no sentence: `e.g. this`. */
function sentencesOf(line: string): readonly string[] {
  return line
    .split(/(?<=(?<!\b\p{Lu})[.!?؟।]['"”’)\]]{0,3})\s+(?!\p{Ll})|(?<=[。！？])/u)
    .map((sentence) => sentence.trim());
}

/**
 * All of them, as long as they fit. First go those that may be meant for once only, the oldest first. Texts that users paste are full
 * of sentences that sound like rules: of the messages that have the most of them, the first and the last ones are kept, and between
 * them those that plainly are to hold for good, as many as fit.
 */
export function boundedRules(rules: readonly PinnedRule[], room: number): readonly PinnedRule[] {
  const certain = rules.filter(({ isLikely }) => !isLikely);
  let total = sizeOfRules(rules);
  const kept = rules.filter(({ text, isLikely }) => {
    if (total <= room || !isLikely) return true;
    total -= text.length;
    return false;
  });
  if (total <= room) return kept;
  const sizes = sizesOf(certain);
  const share = fairShare([...sizes.values()], room);
  const cut = new Map<string, ReadonlySet<PinnedRule>>();
  for (const [eventId, size] of sizes)
    if (size > share)
      cut.set(
        eventId,
        keptOf(
          certain.filter((rule) => rule.eventId === eventId),
          share,
        ),
      );
  return certain.filter((rule) => cut.get(rule.eventId)?.has(rule) ?? true);
}

/** What each may have at most for all to fit; no message is cut to less than its ends. */
function fairShare(sizes: readonly number[], room: number): number {
  let left = room;
  const sorted = sizes.toSorted((one, other) => one - other);
  for (const [index, size] of sorted.entries()) {
    const share = left / (sorted.length - index);
    if (size > share) return Math.max(keptOfPaste, share);
    left -= size;
  }
  return Number.POSITIVE_INFINITY;
}

const keptOfPaste = 1000;

function keptOf(rules: readonly PinnedRule[], room: number): ReadonlySet<PinnedRule> {
  const ends = new Set(endsOf(rules, keptOfPaste));
  const between = lastingOf(rules).filter((rule) => !ends.has(rule));
  const left = room - sizeOfRules([...ends]);
  return left <= 0 ? ends : new Set([...ends, ...endsOf(between, left)]);
}

/** With what stands in a list below one of them. */
function lastingOf(rules: readonly PinnedRule[]): readonly PinnedRule[] {
  let isListed = false;
  return rules.filter(({ text }) => {
    const isLasting = (isListed && isItem.test(text)) || soundsLasting(text);
    isListed = isLasting && (isListed || endsInColon.test(text));
    return isLasting;
  });
}

/** The first ones and the last ones: what users type stands before or behind what they paste. */
function endsOf(rules: readonly PinnedRule[], room: number): readonly PinnedRule[] {
  if (sizeOfRules(rules) <= room) return rules;
  const first = upTo(rules, room / 2);
  const last = upTo(rules.slice(first.length).toReversed(), room / 2);
  return [...first, ...last.toReversed()];
}

function upTo(rules: readonly PinnedRule[], room: number): readonly PinnedRule[] {
  let size = 0;
  const end = rules.findIndex(({ text }) => {
    size += text.length;
    return size > room;
  });
  return end < 0 ? rules : rules.slice(0, Math.max(1, end));
}

function sizeOfRules(rules: readonly PinnedRule[]): number {
  return rules.reduce((sum, { text }) => sum + text.length, 0);
}

/** Characters of rules, by the message that has them. */
export function sizesOf(rules: readonly PinnedRule[]): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const { eventId, text } of rules) sizes.set(eventId, (sizes.get(eventId) ?? 0) + text.length);
  return sizes;
}
