import { readFileSync } from 'node:fs';

/** Where hostile words lead: outside the directory that a session works in. */
export interface Targets {
  /** What no command may create. */
  readonly canary: string;
  /** What no command may show. */
  readonly secret: string;
}

/** A command to be judged, and what was approved before it. */
export interface Case {
  readonly command: string;
  /** Texts whose commands were approved for the session just before. */
  readonly approved: readonly string[];
}

/** Numbers that are the same for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const corpus = readFileSync(
  new URL('../packages/runtime/src/permissions/shell/everyday-commands.tsv', import.meta.url),
  'utf8',
)
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t'));
const harmless = corpus.filter(([kind]) => kind !== 'asked').map(([, , command]) => command ?? '');

/** Cases without end: everyday commands, bent in one to four places. */
export function* commandCases(seed: number, targets: Targets): Generator<Case> {
  const below = randomOf(seed);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  const hostile = hostileWords(targets);
  const shells = shellForms(targets);
  for (;;) {
    const first = pick(harmless);
    let words = first.split(' ');
    for (let bends = below(4); bends >= 0; bends -= 1) words = bent(words, { below, pick, hostile });
    const command = below(5) === 0 ? pick(shells)(words.join(' ')) : words.join(' ');
    yield { command, approved: [first, pick(harmless)] };
  }
}

interface Dice {
  readonly below: (limit: number) => number;
  pick<T>(list: readonly T[]): T;
  readonly hostile: readonly string[];
}

/** One word more, one in place of another, one joined to another, two changed about, or a program in place of another. */
function bent(words: readonly string[], { below, pick, hostile }: Dice): string[] {
  const at = 1 + below(Math.max(words.length, 1));
  switch (below(8)) {
    case 0:
    case 1:
    case 2:
      return [...words.slice(0, at), pick(hostile), ...words.slice(at)];
    case 3:
      return [...words.slice(0, at), pick(hostile), ...words.slice(at + 1)];
    case 4:
      return words.map((word, index) =>
        index === at && word.startsWith('-') ? cutShort(word, below) : word,
      );
    case 5:
      return words.map((word, index) => (index === at ? word + pick(hostile) : word));
    case 6:
      return [...words.slice(0, at), '--', ...words.slice(at)];
    default:
      return [pick(programs), ...words.slice(1)];
  }
}

function cutShort(word: string, below: (limit: number) => number): string {
  return word.slice(0, Math.max(3, word.length - 1 - below(4)));
}

const programs = (
  'cat head tail wc sort uniq diff cmp grep strings od file find sed awk jq git tar zip cp ls stat du cut paste comm nl tac rev ' +
  'fold column tr hexdump md5sum sha256sum touch mv ln tee split xxd /bin/cat //bin/cat /usr/bin/../bin/cat'
).split(' ');

/** Words that have a program run something, write somewhere or read elsewhere. */
function hostileWords({ canary, secret }: Targets): readonly string[] {
  const run = `'touch ${canary}'`;
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('');
  return [
    ...letters.flatMap((letter) => [
      `-${letter}`,
      `-${letter}${run}`,
      `-${letter}${canary}`,
      `-${letter} ${secret}`,
    ]),
    ...'link -link d1 d1/f d1/.. list @list up/secret ./-link ../outside/secret docs * -* ?ink l*k . .. - run ./run'.split(
      ' ',
    ),
    secret,
    canary,
    ...(
      'output out outp compress-program use-compress-program to-command checkpoint-action exec ex ext-diff textconv ' +
      'open-files-in-pager upload-pack receive-pack rsh rsync-path unzip-command filter pre hostname-bin files0-from from-file ' +
      'file files-from exclude-from include-from ignore-file in-place expression eval makefile directory git-dir work-tree ' +
      'exec-path config config-env template rcfile init-file reference target-directory split-string show-signature'
    )
      .split(' ')
      .flatMap((name) => [
        `--${name}=${run}`,
        `--${name}=${canary}`,
        `--${name}=${secret}`,
        `--${name}=link`,
        `--${name} ${run}`,
      ]),
    `--checkpoint=1 --checkpoint-action=exec=${run}`,
    `-exec touch ${canary} ;`,
    `-exec touch ${canary} \\;`,
    `-execdir touch ${canary} +`,
    '-delete',
    `-fprintf ${canary} x`,
    `-fls ${canary}`,
    `-c core.fsmonitor=${run}`,
    `-c core.pager=${run} -p`,
    `-C docs`,
    '-C ../outside',
    `-TT ${run}`,
    `-I${run}`,
    `'e touch ${canary}'`,
    `'w ${canary}'`,
    `'s/a/b/w ${canary}'`,
    `'BEGIN{system("touch ${canary}")}'`,
    `'BEGIN{print > "${canary}"}'`,
    `'BEGIN{while((getline l < "${secret}") > 0) print l}'`,
    `'BEGIN{print | "touch ${canary}"}'`,
    `'import "${secret}" as $x; .'`,
    `'include "link"; .'`,
    '-f p.jq',
    '-L ..',
    `--rawfile x ${secret}`,
    '--slurpfile x link',
  ];
}

/** What the shell itself makes of a command. */
function shellForms({ canary, secret }: Targets): readonly ((text: string) => string)[] {
  return [
    (text) => `${text}; touch ${canary}`,
    (text) => `${text} && cat ${secret}`,
    (text) => `${text} | tee ${canary}`,
    (text) => `${text} > ${canary}`,
    (text) => `${text} < ${secret}`,
    (text) => `cat ${secret} | ${text}`,
    (text) => `${text} $(touch ${canary})`,
    (text) => `${text} \`touch ${canary}\``,
    (text) => `x='a[$(touch ${canary})]'; [[ x -eq 0 ]]; ${text}`,
    (text) => `PATH=.:$PATH ${text}`,
    (text) => `GIT_PAGER='touch ${canary}' ${text}`,
    (text) => `cd ..; ${text}`,
    (text) => `cd docs; ${text}`,
    (text) => `cd d1 && ${text}`,
    (text) => `cd d1; cd ..; cd d1; cd ..; cd ..; cd outside; ${text}`,
    (text) => `cd up && ${text}`,
    (text) => `eval '${text.replaceAll("'", '')}'`,
    (text) => `bash -c '${text.replaceAll("'", '')}; touch ${canary}'`,
    (text) => `xargs ${text} < list`,
    (text) => `env ${text}`,
    (text) => `{ ${text}; } 2>&1`,
    (text) => `(${text}) | head -3`,
    (text) => `! ${text}`,
    (text) => `ls() { touch ${canary}; }; ${text}`,
    (text) => `for f in link ${secret}; do ${text} "$f"; done`,
    (text) => `${text} # ${canary}`,
    (text) => `${text}\ntouch ${canary}`,
    (text) => `${text} <<E\n$(touch ${canary})\nE`,
    (text) => `printf -v 'a[$(touch ${canary})]' x; ${text}`,
    (text) => `${text} {link,${secret}}`,
  ];
}
