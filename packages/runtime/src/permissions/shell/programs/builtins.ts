import { byWords, each, type Program, program } from './program.js';

/** Commands of the shell itself that change nothing but where it stands, and its own manners. */
export const builtins: readonly (readonly [string, Program])[] = [
  ['cd', program('reads', '-LPe@')],
  ['pwd', program('reads', '-LP')],
  ['true', anyWords],
  ['false', anyWords],
  [':', anyWords],
  ['echo', anyWords],
  // `-v` assigns, and its index is evaluated.
  [
    'printf',
    (words) => (words[0]?.value.startsWith('-') && words[0].value !== '--' ? undefined : anyWords(words)),
  ],
  ...each(
    'test [',
    byWords('reads', (words) => !words.some((word) => word === '-v' || word === '-R')),
  ),
  [
    'set',
    byWords('reads', (words) =>
      words.every((word) => /^(?:[-+][eux]+o?|[-+]o|pipefail|errexit|nounset|xtrace)$/.test(word)),
    ),
  ],
  ['command', byWords('reads', ([first, ...rest]) => /^-[vV]$/.test(first ?? '') && rest.length > 0)],
  ['wait', byWords('reads', (words) => words.every((word) => /^(?:%?\d+|-n)$/.test(word)))],
  ['exit', byWords('reads', (words) => words.every((word) => /^\d+$/.test(word)))],
  ['break', byWords('reads', (words) => words.every((word) => /^\d+$/.test(word)))],
  ['continue', byWords('reads', (words) => words.every((word) => /^\d+$/.test(word)))],
];

/** They take any word for text. */
function anyWords(words: Parameters<Program>[0]): ReturnType<Program> {
  return words.some(({ kind }) => kind === 'dynamic')
    ? undefined
    : { role: 'reads', options: [], operands: words };
}
