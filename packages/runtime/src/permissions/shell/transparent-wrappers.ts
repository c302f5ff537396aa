import type { KnownWord } from './command-word.js';
import { type OptionTable, optionTable, parseCall } from './options.js';
import { plainName } from './plain-name.js';
import type { Wrapped } from './wrapped-commands.js';

/** Programs that run the words behind their options, as they stand, and nothing else. */
const wrappers = new Map<string, { readonly options: OptionTable; readonly operands?: number }>([
  ['sudo', { options: optionTable('-EHnkSb -u: -g: --user= --group= --non-interactive --set-home') }],
  ['env', { options: optionTable('-i0v -u: -C: --ignore-environment --unset= --chdir=') }],
  ['nice', { options: optionTable('-n: -# --adjustment=') }],
  ['ionice', { options: optionTable('-c: -n: -t --class= --classdata=') }],
  [
    'timeout',
    {
      options: optionTable('-s: -k: -v --signal= --kill-after= --foreground --preserve-status'),
      operands: 1,
    },
  ],
  ['stdbuf', { options: optionTable('-i: -o: -e: --input= --output= --error=') }],
  ['setsid', { options: optionTable('-cfw --ctty --fork --wait') }],
  ['nohup', { options: optionTable() }],
  ['command', { options: optionTable('-p') }],
  ['builtin', { options: optionTable() }],
  ['exec', { options: optionTable('-cl -a:') }],
  ['time', { options: optionTable('-pv') }],
]);

/** Whether what was found in the words of a wrapper is all that it runs, without any doubt. */
export function isTransparent(
  name: string,
  words: readonly KnownWord[],
  wrapped: readonly Wrapped[],
): boolean {
  const program = plainName(name);
  if (program === 'eval') return words.every(({ kind }) => kind === 'literal');
  if (/^(?:bash|sh|dash)$/.test(program)) return isPlainShell(words);
  const shape = wrappers.get(program);
  const call = shape && parseCall(words, shape.options, { stopsAtOperand: true });
  const [inner, ...more] = wrapped;
  if (!call || inner?.type !== 'words' || more.length > 0) return false;
  return call.operands[shape?.operands ?? 0] === inner.words[0];
}

/** `bash -c 'text'`, with no start files and no other texts. */
function isPlainShell([option, text]: readonly KnownWord[]): boolean {
  return option?.kind === 'literal' && /^-[eux]*c$/.test(option.value) && text?.kind === 'literal';
}
