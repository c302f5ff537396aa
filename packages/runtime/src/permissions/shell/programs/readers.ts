import type { KnownWord } from '../command-word.js';
import { optionTable, parseCall } from '../options.js';
import { each, has, type Program, program, readsWhere, type Understood } from './program.js';

/** Programs that show text and say what the system is like. Options that write, run or follow lists of names are not here. */
export const readers: readonly (readonly [string, Program])[] = [
  [
    'ls',
    program(
      'reads',
      // What links inside a directory lead to is not shown.
      '-aAbBcCdDfFgGhHikKlmnNopqQrRsStUuvwxXZ1@eO -I: -T: --all --almost-all --author --escape --block-size= ' +
        '--ignore-backups --color=? --directory --classify=? --file-type --format= --full-time --group-directories-first ' +
        '--no-group --human-readable --si --hide= --hyperlink=? --indicator-style= --inode --ignore= --kibibytes ' +
        '--dereference-command-line --numeric-uid-gid --literal --quote-name --quoting-style= --reverse ' +
        '--recursive --size --sort= --time= --time-style= --tabsize= --width= --context --zero',
    ),
  ],
  [
    'cat',
    program(
      'reads',
      '-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs',
    ),
  ],
  [
    'head',
    program('reads', '-c: -n: -qvz -# --bytes= --lines= --quiet --silent --verbose --zero-terminated'),
  ],
  [
    'tail',
    program(
      'reads',
      '-c: -n: -fFqrvz -s: -# --bytes= --lines= --follow=? --pid= --quiet --retry --sleep-interval= --verbose --zero-terminated',
    ),
  ],
  ['wc', program('reads', '-cmlLw --bytes --chars --lines --max-line-length --words --total=')],
  ['nl', program('reads', '-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering= --number-format=')],
  ['tac', program('reads', '-br -s: --before --regex --separator=')],
  ['rev', program('reads', '-0')],
  [
    'cut',
    program(
      'reads',
      '-b: -c: -d: -f: -nsz --bytes= --characters= --delimiter= --fields= --complement --only-delimited --output-delimiter= --zero-terminated',
    ),
  ],
  ['tr', program('reads', '-cCdst --complement --delete --squeeze-repeats --truncate-set1')],
  ['paste', program('reads', '-d: -sz --delimiters= --serial --zero-terminated')],
  [
    'comm',
    program('reads', '-123z --check-order --nocheck-order --output-delimiter= --total --zero-terminated'),
  ],
  ['diff', diff()],
  [
    'cmp',
    program('reads', '-bls -i: -n: --print-bytes --ignore-initial= --verbose --bytes= --quiet --silent'),
  ],
  ['stat', program('reads', '-c: -fLtx --dereference --file-system --format= --printf= --terse')],
  [
    'du',
    program(
      'reads',
      '-abchklmsSx0 -B: -d: -t: -I: --all --apparent-size --block-size= --bytes --total --max-depth= --human-readable ' +
        '--inodes --separate-dirs --si --summarize --threshold= --time=? --exclude= --one-file-system --null',
    ),
  ],
  [
    'df',
    program(
      'reads',
      '-ahHiklPT -B: -t: -x: --all --block-size= --human-readable --si --inodes --local --output=? --portability --total --type= --print-type --exclude-type=',
    ),
  ],
  ['basename', program('reads', '-az -s: --multiple --suffix= --zero')],
  ['dirname', program('reads', '-z --zero')],
  [
    'realpath',
    program(
      'reads',
      '-emLPqsz --canonicalize-existing --canonicalize-missing --logical --physical --quiet --relative-to= --relative-base= --strip --no-symlinks --zero',
    ),
  ],
  [
    'readlink',
    program('reads', '-femnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline'),
  ],
  ['id', program('reads', '-agGnruz --group --groups --name --real --user --zero')],
  [
    'uname',
    program(
      'reads',
      '-asnrvmpio --all --kernel-name --nodename --kernel-release --kernel-version --machine --processor --operating-system',
    ),
  ],
  ['which', program('reads', '-as --all')],
  ['whereis', program('reads', '-bmsul')],
  ['type', program('reads', '-aftpP')],
  ['uptime', program('reads', '-ps --pretty --since')],
  ['printenv', program('reads', '-0 --null')],
  ['nproc', program('reads', '--all --ignore=')],
  ['free', program('reads', '-bkmghtlw --bytes --kilo --mega --giga --human --si --total --wide')],
  ['lscpu', program('reads', '-aeJpxy --all --json --extended=? --parse=?')],
  ['lsblk', program('reads', '-abdfilmnpPrtJ -o: --all --bytes --fs --json --list --output= --paths --raw')],
  ...each(
    'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum',
    program('reads', '-btz -l: --binary --text --tag --zero --length='),
  ),
  ...each('cksum sum', program('reads', '-rs')),
  ['shasum', program('reads', '-bt -a: --algorithm= --binary --text')],
  [
    'od',
    program(
      'reads',
      '-abcdfhiloOsvx -A: -j: -N: -S: -t: -w? --address-radix= --skip-bytes= --read-bytes= --format= --output-duplicates --width=?',
    ),
  ],
  ['hexdump', program('reads', '-bcCdovx -e: -n: -s: --canonical --length= --skip=')],
  ['xxd', dump],
  // A word that begins with @, wherever it stands, is replaced by words of the file it names.
  [
    'strings',
    guarded(
      program('reads', '-afw -# -n: -t: -e: --all --bytes= --radix= --encoding= --print-file-name'),
      (word) => !word.startsWith('@'),
    ),
  ],
  ['seq', program('reads', '-w -s: -f: --equal-width --separator= --format=')],
  ['fold', program('reads', '-bs -w: --bytes --spaces --width=')],
  ['expand', program('reads', '-i -t: --initial --tabs=')],
  ['unexpand', program('reads', '-a -t: --all --first-only --tabs=')],
  [
    'column',
    program(
      'reads',
      '-tnxeJL -s: -o: -c: -N: -R: -H: --table --separator= --output-separator= --output-width= --json',
    ),
  ],
  ['locale', program('reads', '-amck --all-locales --charmaps --category-name --keyword-name')],
  ['getconf', program('reads', '-a')],
  [
    'sort',
    program(
      'reads',
      '-bdfghiMnRrVumscCz -k: -t: -S: --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort ' +
        '--human-numeric-sort --month-sort --numeric-sort --random-sort --reverse --version-sort --sort= --key= ' +
        '--field-separator= --unique --merge --stable --check=? --zero-terminated --parallel= --buffer-size= --debug --batch-size=',
    ),
  ],
  [
    'uniq',
    program(
      'reads',
      '-cdDiuz -f: -s: -w: -# --count --repeated --all-repeated=? --group=? --ignore-case --unique --skip-fields= --skip-chars= --check-chars= --zero-terminated',
      // The second operand is written to.
      { fits: ({ operands }) => operands.length <= 1 },
    ),
  ],
  [
    'tree',
    guarded(
      program(
        'reads',
        '-adfipshugDFNQrtUvCnxJX -L: -P: -I: --noreport --dirsfirst --filesfirst --gitignore --prune --du --inodes --device ' +
          '--si --ignore-case --matchdirs',
      ),
      // Its letters take their values from the next words, however they are joined: the rest of the word is options.
      (word) => !/^-[^-]*[LPI]./.test(word),
    ),
  ],
  [
    'file',
    program(
      'reads',
      '-bihkLNnrv0 -F: -e: --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going --no-pad --print0 --extension --separator= --exclude=',
    ),
  ],
  ...each('whoami tty arch logname hostid', program('reads', '')),
  ['groups', program('reads', '')],
  ['sleep', readsWhere((words) => words.every((word) => /^[\d.]+[smhd]?$/.test(word)))],
  ['date', readsWhere(isDateQuestion)],
  ['hostname', readsWhere((words) => words.every((word) => /^-[sfidIA]$/.test(word)))],
  ['ps', readsWhere(isProcessQuestion)],
  ['cal', readsWhere((words) => words.every((word) => /^(?:\d+|-[13jmy]+)$/.test(word)))],
];

/** A program that is understood only while each of its words fits. */
function guarded(inner: Program, fits: (word: string) => boolean): Program {
  return (words) => (words.every(({ value }) => fits(value)) ? inner(words) : undefined);
}

/**
 * It goes by the first letters of a word and ignores the rest (`-ps f out` writes `out`), takes values from the next word,
 * reads no options behind its first operand, and takes `--` for a file; its second operand is written.
 */
function dump(words: readonly KnownWord[]): Understood | undefined {
  let at = 0;
  for (let word = words[at]; word && /^-./.test(word.value); word = words[at]) {
    const isFlag = /^-[abeipuE]$/.test(word.value);
    const isNumber = (value: KnownWord | undefined) => /^[+-]?(?:0x)?[\da-f]+$/i.test(value?.value ?? '');
    const isValued = /^-[cgls]$/.test(word.value) && isNumber(words[at + 1]);
    if (!isFlag && !isValued && !/^-[cgls]\d+$/.test(word.value)) return undefined;
    at += isValued ? 2 : 1;
  }
  const operands = words.slice(at);
  const isPlain = words.every(({ kind }) => kind === 'literal') && operands.length <= 1;
  return isPlain ? { role: 'reads', options: [], operands } : undefined;
}

/** `--recursive` follows links inside unless an option forbids it, and so does a directory beside a file. */
function diff(): Program {
  const table = optionTable(
    '-qsucenyiEZbwBatTdpNr0123456789 -U: -C: -W: -I: -F: -x: -L: --brief --report-identical-files --unified=? --context=? ' +
      '--side-by-side --width= --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines ' +
      '--ignore-tab-expansion --ignore-trailing-space --ignore-matching-lines= --text --strip-trailing-cr --expand-tabs ' +
      '--minimal --speed-large-files --new-file --suppress-common-lines --left-column --color=? --label= --exclude= ' +
      '--show-c-function --show-function-line= --normal --recursive --no-dereference --help --version',
  );
  return (words) => {
    const call = parseCall(words, table);
    if (!call) return undefined;
    const isKept = has(call, '--no-dereference');
    if (has(call, '-r', '--recursive') && !isKept) return undefined;
    return { role: 'reads', ...call, ...(!isKept && { followsLinksInside: true }) };
  };
}

/** The words that are no values of the options before them, and those that are. */
function apart(
  words: readonly string[],
  takesValue: (option: string) => boolean,
): { readonly plain: readonly string[]; readonly values: readonly string[] } {
  const plain: string[] = [];
  const values: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    plain.push(word);
    if (!takesValue(word)) continue;
    values.push(...words.slice(at + 1, at + 2));
    at += 1;
  }
  return { plain, values };
}

function isDateQuestion(words: readonly string[]): boolean {
  const { plain } = apart(words, (option) => option === '-d' || option === '-r');
  return plain.every((word) =>
    /^(?:\+[\s\S]*|-[drRu]|-I\w*|--utc|--universal|--iso-8601(?:=\w+)?|--rfc-\w+(?:=\w+)?|--date=[\s\S]*|--help|--version)$/.test(
      word,
    ),
  );
}

/** A bare `e`, and the format `env`, show the environment of other processes, with what is secret in it. */
function isProcessQuestion(words: readonly string[]): boolean {
  // Of joined letters the first that takes a value takes the rest of the word: `-olwp` leaves the next one alone.
  const { plain, values } = apart(words, (option) => /^-[^poCugU-]*[poCugU]$/.test(option));
  return (
    values.every((value) => !/env/i.test(value)) &&
    plain.every((word) =>
      /^(?:[aux]+|[axujflw]+|-[aAdefFHjlLMNwypoCugUT]+|--forest|--no-headers|--sort=[\w%,+-]+|--pid=\d+|\d+)$/.test(
        word,
      ),
    )
  );
}
