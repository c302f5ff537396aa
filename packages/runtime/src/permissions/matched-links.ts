import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { globMatcher } from '../tools/glob-pattern.js';

/**
 * Where links lead that the shell would put in place of a whole path with wildcards; more rather than fewer. Undefined when
 * there are too many names to look at.
 */
export async function matchedLinks(pattern: string): Promise<readonly string[] | undefined> {
  const links: string[] = [];
  let places = ['/'];
  let seen = 0;
  for (const name of pattern.split('/').filter((each) => each !== '')) {
    if (!isWild(name)) {
      places = places.map((place) => join(place, name));
      continue;
    }
    const found = await Promise.all(places.map((place) => entriesOf(place)));
    seen += found.reduce((sum, entries) => sum + entries.length, 0);
    if (seen > mostNames) return undefined;
    // Classes of characters are taken to match all.
    const matches = name.includes('[:') ? () => true : globMatcher(name);
    const matched = found.flat().filter((entry) => matches(entry.name));
    places = matched.map(({ path }) => path);
    links.push(...matched.filter(({ isLink }) => isLink).map(({ path }) => path));
  }
  return Promise.all(links.map((link) => realpath(link).catch(() => link)));
}

/** Whether the shell may put other names in place of a word. */
export function isWild(word: string): boolean {
  return /[*?[]/.test(word);
}

const mostNames = 10_000;

interface Entry {
  readonly name: string;
  readonly path: string;
  readonly isLink: boolean;
}

async function entriesOf(directory: string): Promise<readonly Entry[]> {
  // What cannot be listed, the shell cannot match either.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  return entries.map((entry) => ({
    name: entry.name,
    path: join(directory, entry.name),
    isLink: entry.isSymbolicLink(),
  }));
}
