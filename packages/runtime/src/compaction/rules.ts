import type { PinnedMessage, PinnedRule } from '../log/pinned.js';
import { soundsLikeRule, soundsLikeWish } from './rule-words.js';

const shortestSentence = 4;
const shortLine = 400;
/** Rules stand before or after what is pasted; what is longer is not read whole, which would hold the thread. */
const longestEnd = 32 * 1024;
/** The least that one rule may have, whatever the window. */
const longestRule = 2000;

/** The sentences of a message that sound like rules; and what stands in a list below one of them. */
export function rulesIn({ eventId, text }: PinnedMessage, room: number): readonly PinnedRule[] {
  const isLong = text.length > 2 * longestEnd;
  const read = isLong ? `${text.slice(0, longestEnd)}\n${text.slice(-longestEnd)}` : text;
  const longest = Math.max(longestRule, room / 8);
  const rules: PinnedRule[] = [];
  let isListed = false;
  for (const line of read.split(/\n+/)) {
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
        isListed = /[:：]$/.test(sentence);
      } else if (soundsLikeWish(sentence)) rules.push({ eventId, text: sentence, isLikely: true });
    }
  }
  return rules;
}

const isItem = /^\s*(?:[-*•–]|\d+[.)]|[a-z][.)])\s/i;

/** A stop that a small letter follows ends no sentence: `e.g. this`. */
function sentencesOf(line: string): readonly string[] {
  return line
    .split(/(?<=(?<!\b\p{Lu})[.!?؟।]['"”’)\]]{0,3})\s+(?!\p{Ll})|(?<=[。！？])/u)
    .map((sentence) => sentence.trim());
}

/**
 * All of them, as long as they fit. First go those that may be meant for once only, the oldest first. Texts that users paste are full
 * of sentences that sound like rules: of the messages that have the most of them, the first and the last ones are kept.
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
  const cut = new Map<string, ReadonlySet<PinnedRule>>();
  for (const [eventId, size] of [...sizes].sort(([, one], [, other]) => other - one)) {
    if (total <= room || size <= keptOfPaste) break;
    const ends = endsOf(certain.filter((rule) => rule.eventId === eventId));
    cut.set(eventId, new Set(ends));
    total -= size - sizeOfRules(ends);
  }
  return certain.filter((rule) => cut.get(rule.eventId)?.has(rule) ?? true);
}

const keptOfPaste = 1000;

/** The first ones and the last ones: what users type stands before or behind what they paste. */
function endsOf(rules: readonly PinnedRule[]): readonly PinnedRule[] {
  const first = upTo(rules, keptOfPaste / 2);
  const last = upTo(rules.slice(first.length).toReversed(), keptOfPaste / 2);
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
