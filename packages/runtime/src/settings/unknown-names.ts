import { nearestName } from '@groundcrew/protocol';

/** A warning about names in an option that the session does not know, with the nearest known ones; none when all are known. */
export function unknownNameWarnings(
  option: string,
  given: readonly string[],
  { known, what }: { readonly known: Iterable<string>; readonly what: string },
): readonly string[] {
  if (given.length === 0) return [];
  const names = new Set(known);
  return warnOfNames(
    option,
    [...new Set(given)].filter((name) => !names.has(name)),
    { known: names, what },
  );
}

/** The same warning for names that were found to be unknown already. */
export function warnOfNames(
  option: string,
  unknown: readonly string[],
  { known, what }: { readonly known: Iterable<string>; readonly what: string },
): readonly string[] {
  if (unknown.length === 0) return [];
  const candidates = [...known];
  const shown = unknown.slice(0, mostNames).map((name) => {
    const near = nearestName(name, candidates);
    const hint = near === undefined ? '' : ` (did you mean ${quoted(near)}?)`;
    return `${quoted(name)}${hint}`;
  });
  const more = unknown.length > mostNames ? ` and ${unknown.length - mostNames} more` : '';
  return [
    `The option '${option}' has no effect for ${shown.join(', ')}${more}: the session has no such ${what}.`,
  ];
}

const mostNames = 10;
const longestName = 64;

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, longestName));
}
