import { placesOf, plainText } from './search-words.js';

const mostPlaces = 50;
const halfCharacters = /^[\udc00-\udfff]|[\ud800-\udbff]$/g;

/** The part of a text in which most of the words stand, and another one for words that are not there. */
export function snippet(text: string, words: readonly string[], length: number): string {
  if (text.length <= length) return text;
  const plain = plainText(text);
  const places = [...new Set(words)].flatMap((word) => {
    const found = placesOf(word, plain, mostPlaces);
    // A word that stands everywhere says little about where to look.
    return found.map((at) => ({ at, word, weight: 1 / found.length }));
  });
  const first = fullest(places, length);
  const covered = new Set(places.filter(({ at }) => isIn(at, first, length)).map(({ word }) => word));
  const others = places.filter(({ word }) => !covered.has(word));
  const second = others.length === 0 ? undefined : fullest(others, length / 2);
  const parts = [{ start: first, end: first + length }];
  if (second !== undefined) parts.push({ start: second, end: second + Math.floor(length / 2) });
  return joined(text, parts);
}

interface Place {
  readonly at: number;
  readonly word: string;
  readonly weight: number;
}

const isIn = (at: number, start: number, length: number) => at >= start && at < start + length;

/** Where a stretch begins that has the most of what is looked for, a quarter of it before the first. */
function fullest(places: readonly Place[], length: number): number {
  const ordered = [...places].sort((one, other) => one.at - other.at);
  const seen = new Map<string, number>();
  let best = { weight: 0, at: 0 };
  let weight = 0;
  let end = 0;
  for (const { at, word, weight: own } of ordered) {
    for (let next = ordered[end]; next && next.at < at + (length * 3) / 4; next = ordered[end]) {
      const times = seen.get(next.word) ?? 0;
      // A word counts once.
      if (times === 0) weight += next.weight;
      seen.set(next.word, times + 1);
      end += 1;
    }
    if (weight > best.weight + rounding) best = { weight, at };
    const left = (seen.get(word) ?? 0) - 1;
    seen.set(word, left);
    if (left === 0) weight -= own;
  }
  return Math.max(0, Math.floor(best.at - length / 4));
}

/** Sums of the same parts differ by less, in whatever order they were made. */
const rounding = 1e-9;

function joined(text: string, parts: readonly { readonly start: number; readonly end: number }[]): string {
  const ordered = [...parts].sort((one, other) => one.start - other.start);
  let shown = '';
  let from = 0;
  for (const { start, end } of ordered) {
    const begin = Math.max(start, from);
    if (begin > from) shown += '…';
    shown += text.slice(begin, end).replace(halfCharacters, '');
    from = Math.max(from, end);
  }
  return from < text.length ? `${shown}…` : shown;
}
