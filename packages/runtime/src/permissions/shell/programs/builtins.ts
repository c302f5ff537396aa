import { each, type Program, program, readsWhere } from './program.js';

/** Commands of the shell itself that change nothing but where it stands, and its own manners. */
export const builtins: readonly (readonly [string, Program])[] = [
  ['cd', program('reads', '-LPe@')],
  ['pwd', program('reads', '-LP')],
  ['true', anyWords],
  ['false', anyWords],
  [':', anyWords],
  ['echo', anyWords],
  ['printf', printf],
  ...each(
    'test [',
    readsWhere((words) => !words.some((word) => word === '-v' || word === '-R')),
  ),
  [
    'set',
    readsWhere((words) =>
      words.every((word) => /^(?:[-+][eux]+o?|[-+]o|pipefail|errexit|nounset|xtrace)$/.test(word)),
    ),
  ],
  ['command', readsWhere(([first, ...rest]) => /^-[vV]$/.test(first ?? '') && rest.length > 0)],
  ['wait', readsWhere((words) => words.every((word) => /^(?:%?\d+|-n)$/.test(word)))],
  ['exit', readsWhere((words) => words.every((word) => /^\d+$/.test(word)))],
  ['break', readsWhere((words) => words.every((word) => /^\d+$/.test(word)))],
  ['continue', readsWhere((words) => words.every((word) => /^\d+$/.test(word)))],
];

/** `-v` assigns, and its index is evaluated; `%n` assigns too, any variable: `printf 'x%n' PATH`. */
function printf(words: Parameters<Program>[0]): ReturnType<Program> {
  const [format] = words[0]?.value === '--' ? words.slice(1) : words;
  if (words[0]?.value !== '--' && words[0]?.value.startsWith('-')) return undefined;
  // A wildcard may become any format.
  const isPlain =
    format === undefined || (format.kind === 'literal' && !assigns.test(format.value.replaceAll('%%', '')));
  return isPlain ? anyWords(words) : undefined;
}

const assigns = /%[^%a-zA-Z\\]*[hlLjtzq]*n/;

/** They take any word for text. */
function anyWords(words: Parameters<Program>[0]): ReturnType<Program> {
  return words.some(({ kind }) => kind === 'dynamic')
    ? undefined
    : { role: 'reads', options: [], operands: words };
}
