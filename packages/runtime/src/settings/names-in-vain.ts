import { nearestName } from '@groundcrew/protocol';

/** Names by which an option means something that the session does not have: none, or one sentence that says what may be meant. */
export function namesInVain(
  option: string,
  given: readonly string[],
  { known, what }: { readonly known: Iterable<string>; readonly what: string },
): readonly string[] {
  if (given.length === 0) return [];
  const names = new Set(known);
  return noSuch(
    option,
    [...new Set(given)].filter((name) => !names.has(name)),
    { known: names, what },
  );
}

/** The same for names of which it is known that nothing is meant. */
export function noSuch(
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
