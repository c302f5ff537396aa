import { plainName } from './plain-name.js';
import type { KnownWord } from './words.js';

/** What a command runs besides itself because of its options or subcommand, as shell text; undefined when it does not. */
export function runByOptions(name: string, words: readonly KnownWord[]): readonly KnownWord[] | undefined {
  const program = plainName(name);
  if (program === 'git') return runByGit(words);
  const shape = running.get(program);
  const texts = shape ? words.flatMap((word, index) => commandGiven(word, words[index + 1], shape)) : [];
  if (texts.length > 0) return texts;
  return program === 'make' && words.some((word) => /^\w+[:+?]?=/.test(word.value)) ? [] : undefined;
}

/** Options whose value is a command: short letters, and long names. */
interface RunningOptions {
  readonly short: string;
  readonly long: readonly string[];
}

const running = new Map<string, RunningOptions>([
  [
    'tar',
    {
      short: 'IF',
      long: [
        '--to-command',
        '--checkpoint-action',
        '--use-compress-program',
        '--info-script',
        '--new-volume-script',
        '--rsh-command',
        '--rmt-command',
      ],
    },
  ],
  ['rsync', { short: 'e', long: ['--rsh', '--rsync-path'] }],
  ['scp', { short: 'So', long: [] }],
  ['sftp', { short: 'So', long: [] }],
  ['sort', { short: '', long: ['--compress-program'] }],
  ['rg', { short: '', long: ['--pre', '--hostname-bin'] }],
  ['split', { short: '', long: ['--filter'] }],
  ['man', { short: 'PH', long: ['--pager', '--html'] }],
  ['zip', { short: '', long: ['--unzip-command', '-TT'] }],
  ['wget', { short: '', long: ['--use-askpass'] }],
  ['printf', { short: 'v', long: [] }],
  ['test', { short: 'vR', long: [] }],
  ['[', { short: 'vR', long: [] }],
]);

const gitOptions: RunningOptions = {
  short: 'xO',
  long: [
    '--exec',
    '--extcmd',
    '--upload-pack',
    '--receive-pack',
    '--open-files-in-pager',
    '--ext-diff',
    '--textconv',
    '--filters',
    '--config',
  ],
};

/** Subcommands whose words are a command. */
const gitRunners = /^(?:bisect run|submodule foreach|filter-branch .*|hook run|maintenance run)$/;

function runByGit(words: readonly KnownWord[]): readonly KnownWord[] | undefined {
  const texts = words.flatMap((word, index) => commandGiven(word, words[index + 1], gitOptions));
  const at = words.findIndex((word, index) =>
    gitRunners.test(`${word.value} ${words[index + 1]?.value ?? ''}`),
  );
  const inner = at < 0 ? [] : words.slice(at + 2);
  return texts.length + inner.length > 0 ? [...joined(inner), ...texts] : undefined;
}

/** Words that are run as one command. */
function joined(words: readonly KnownWord[]): readonly KnownWord[] {
  const [first] = words;
  if (!first) return [];
  const isLiteral = words.every((word) => word.kind === 'literal');
  return [
    { ...first, value: words.map((word) => word.value).join(' '), kind: isLiteral ? 'literal' : 'dynamic' },
  ];
}

/** Long options may be cut short; a value may be joined or stand in the next word. */
function commandGiven(
  word: KnownWord,
  next: KnownWord | undefined,
  shape: RunningOptions,
): readonly KnownWord[] {
  const [given = '', ...rest] = word.value.split('=');
  const isLong =
    given.startsWith('--') && given.length > 3 && shape.long.some((option) => option.startsWith(given));
  const isShort = /^-[^-]/.test(word.value) && [...shape.short].some((letter) => word.value.includes(letter));
  if (!isLong && !isShort && !shape.long.includes(word.value)) return [];
  if (isLong && rest.length > 0) return [{ ...word, value: rest.join('=').replace(/^exec=/, '') }];
  const letter = isShort ? word.value.search(new RegExp(`[${shape.short}]`)) : -1;
  const attached = letter < 0 ? '' : word.value.slice(letter + 1);
  if (attached !== '') return [{ ...word, value: attached }];
  return [next ?? { ...word, value: '', kind: 'dynamic' }];
}
