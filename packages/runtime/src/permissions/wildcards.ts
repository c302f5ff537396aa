import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { globMatcher } from '../workspace/glob-pattern.js';

/**
 * What the shell may put in place of a whole path with wildcards, as it is named and with every link followed; more rather
 * than fewer. Undefined when there are too many names to look at.
 */
export async function matchedNames(pattern: string): Promise<readonly string[] | undefined> {
  let places = ['/'];
  let seen = 0;
  const names = pattern.split('/').filter((each) => each !== '');
  if (names.some((name) => isWild(name) && name.length > longestWildName)) return undefined;
  for (const name of names) {
    if (places.length === 0) return [];
    if (!isWild(name)) {
      places = places.map((place) => join(place, name));
      continue;
    }
    // Classes of characters are taken to match all.
    const matches = name.includes('[:') ? () => true : globMatcher(name);
    const found = await Promise.all(places.map(namesIn));
    seen += found.reduce((sum, names) => sum + names.length, 0);
    if (seen > mostNames) return undefined;
    places = places.flatMap((place, index) =>
      (found[index] ?? []).filter(matches).map((each) => join(place, each)),
    );
  }
  const ends = await Promise.all(places.map((place) => realpath(place).then((end) => [end], nowhere)));
  return [...places, ...ends.flat()];
}

/** Whether the shell may put other names in place of a word. */
export function isWild(word: string): boolean {
  return /[*?[]/.test(word);
}

const mostNames = 10_000;
/** No file has a longer name, and what matches none is rarely written. */
const longestWildName = 255;

/** What cannot be listed, the shell cannot match either. */
async function namesIn(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(nowhere);
}

const nowhere = (): string[] => [];
