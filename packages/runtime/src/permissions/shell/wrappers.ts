import { plainName } from './plain-name.js';
import type { KnownWord } from './words.js';

/** What a command that runs other commands is about to run. */
export type Wrapped =
  /** The words from `at` on are a command of their own. */
  | { readonly type: 'words'; readonly words: readonly KnownWord[] }
  /** A word is shell text. */
  | { readonly type: 'text'; readonly text: KnownWord };

/** What `name` runs besides itself; undefined for a command that runs nothing else. */
export function unwrap(name: string, words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const program = plainName(name);
  if (program === 'find' || program === 'fd') return findActions(words);
  if (shells.has(program)) return shellText(words);
  if (program === 'eval' || program === 'ssh' || program === 'su') return words.map(asText);
  if (program === 'trap')
    return words
      .filter((word) => !/^-/.test(word.value))
      .slice(0, 1)
      .map(asText);
  if (program === 'alias') return words.flatMap(aliasText);
  if (program === 'env') return splitTexts(words) ?? wrappedBy(program, words);
  if (opaque.has(program)) return [];
  if (loose.has(program) || /\/ld-[\w.-]+\.so/.test(name))
    return words.flatMap((_, index) => tail(words, index));
  return wrappedBy(program, words);
}

/** Whether its words, or what it reads, decide what else runs. */
export function runsOthers(name: string): boolean {
  const program = plainName(name);
  const isKnown = [wrappers, shells, opaque, loose].some((names) => names.has(program));
  return isKnown || /^(?:eval|ssh|su|trap|find|fd)$/.test(program);
}

/** A shell that is given neither text nor a file reads its commands. */
export function readsCommands(name: string, words: readonly KnownWord[]): boolean {
  if (!shells.has(plainName(name)) || shellText(words).length > 0) return false;
  return words.every((word) => /^[-+]/.test(word.value));
}

/** What it runs is written elsewhere, or known only to it. */
export function hidesWhatItRuns(name: string, words: readonly KnownWord[]): boolean {
  const program = plainName(name);
  if (program === 'mapfile' || program === 'readarray')
    return words.some((word) => /^-\w*C/.test(word.value));
  return hiding.has(program);
}

function wrappedBy(program: string, words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const text = withCommandOption.has(program) ? commandOption(words) : undefined;
  if (text) return [asText(text)];
  const shape = wrappers.get(program);
  if (!shape || isQuestion(program, words)) return undefined;
  const inner = words.slice(innerAt(shape, words));
  if (program === 'watch' || program === 'parallel') return inner.map(asText);
  return inner.length > 0 ? [{ type: 'words', words: inner }] : [];
}

interface Shape {
  /** Options with a value in the next word. */
  readonly valued: string;
  readonly long?: readonly string[];
  /** Words that come before the command. */
  readonly operands?: number;
  /** `NAME=value` may come before the command. */
  readonly assigns?: boolean;
}

/** Programs and builtins whose arguments are a command. */
const wrappers = new Map<string, Shape>([
  [
    'sudo',
    { valued: 'ughpCrtTUDR', long: ['--user', '--group', '--host', '--prompt', '--chdir'], assigns: true },
  ],
  ['doas', { valued: 'uC' }],
  ['env', { valued: 'uCS', long: ['--unset', '--chdir', '--split-string'], assigns: true }],
  ['nice', { valued: 'n', long: ['--adjustment'] }],
  ['ionice', { valued: 'cnpPu' }],
  ['chrt', { valued: 'TPD', operands: 1 }],
  ['taskset', { valued: '', operands: 1 }],
  ['timeout', { valued: 'sk', long: ['--signal', '--kill-after'], operands: 1 }],
  [
    'xargs',
    { valued: 'InPLdaEs', long: ['--max-args', '--max-procs', '--replace', '--delimiter', '--arg-file'] },
  ],
  ['stdbuf', { valued: 'ioe', long: ['--input', '--output', '--error'] }],
  ['time', { valued: 'fo', long: ['--format', '--output'] }],
  ['watch', { valued: 'n', long: ['--interval'] }],
  ['parallel', { valued: 'jIaSN' }],
  ['flock', { valued: 'wE', operands: 1 }],
  ['chroot', { valued: '', operands: 1 }],
  ['strace', { valued: 'eopsuEP' }],
  ['ltrace', { valued: 'eopsu' }],
  ['exec', { valued: 'a' }],
  ['unshare', { valued: 'SGRw' }],
  ['nsenter', { valued: 't' }],
  ['script', { valued: 'ctIOEBTm' }],
  ...[
    'command',
    'builtin',
    'nohup',
    'setsid',
    'busybox',
    'coproc',
    'catchsegv',
    'dbus-run-session',
    'xvfb-run',
  ].map((name): [string, Shape] => [name, { valued: '' }]),
]);

const shells = new Set([
  'bash',
  'sh',
  'dash',
  'zsh',
  'ksh',
  'mksh',
  'ash',
  'fish',
  'rbash',
  'pwsh',
  'csh',
  'tcsh',
]);

/** Their options are many: any of their words may be the first of a command. */
const loose = new Set(
  (
    'systemd-run pkexec firejail caffeinate entr setpriv fakeroot proot bwrap numactl prlimit gosu su-exec tini ' +
    'dumb-init unbuffer rlwrap valgrind perf hyperfine proxychains proxychains4 torsocks sshpass dbus-launch ' +
    'ssh-agent setarch linux32 linux64 ld.so cmd.exe cmd powershell tmux screen nix-shell direnv runuser'
  ).split(' '),
);

/** They take a command as the value of `-c`. */
const withCommandOption = new Set(['script', 'flock', 'runuser']);

/** What they run stands in a file, in a dialogue or in their own tongue. */
const hiding = new Set(
  'source . enable bind complete compgen fc history expect at batch crontab vim vi nvim ex ed emacs gdb lldb sqlite3 psql mysql'.split(
    ' ',
  ),
);

/** They change what later words mean, or run what is written elsewhere. */
const opaque = new Set(
  'vim vi nvim ex ed emacs gdb lldb sqlite3 psql mysql source . alias unalias declare typeset local export readonly unset let read mapfile readarray enable shopt hash getopts bind complete compgen fc history expect at batch crontab'.split(
    ' ',
  ),
);

/** `command -v git` only asks. */
function isQuestion(program: string, words: readonly KnownWord[]): boolean {
  return program === 'command' && /^-[vV]$/.test(words[0]?.value ?? '');
}

function asText(text: KnownWord): Wrapped {
  return { type: 'text', text };
}

function aliasText(word: KnownWord): readonly Wrapped[] {
  const at = word.value.indexOf('=');
  if (at < 0) return [];
  const value = word.value.slice(at + 1).replace(/^(['"])([\s\S]*)\1$/, '$2');
  return [asText({ ...word, value, kind: /[$`\\]/.test(value) ? 'dynamic' : 'literal' })];
}

function tail(words: readonly KnownWord[], index: number): readonly Wrapped[] {
  return words[index]?.value.startsWith('-') ? [] : [{ type: 'words', words: words.slice(index) }];
}

/** `env -S` takes a whole command as one word. */
function splitTexts(words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const at = words.findIndex((word) => /^(?:-\w*S|--split-string(?:=|$))/.test(word.value));
  const word = words[at];
  if (!word) return undefined;
  const attached = word.value.replace(/^(?:-\w*?S|--split-string=?)/, '');
  const text = attached === '' ? words[at + 1] : { ...word, value: attached };
  const rest = words.slice(attached === '' ? at + 2 : at + 1);
  return [...(text ? [asText(text)] : []), ...rest.flatMap((_, index) => tail(rest, index))];
}

function commandOption(words: readonly KnownWord[]): KnownWord | undefined {
  const at = words.findIndex((word) => /^(?:-\w*c|--command)$/.test(word.value));
  const joined = words.find((word) => word.value.startsWith('--command='));
  return joined
    ? { ...joined, value: joined.value.slice('--command='.length) }
    : words[at + (at < 0 ? words.length + 1 : 1)];
}

/** Where the inner command begins. */
function innerAt(shape: Shape, words: readonly KnownWord[]): number {
  let at = 0;
  for (let word = words[at]; word?.value.startsWith('-') && word.value.length > 1; word = words[at]) {
    at += takesNext(shape, word.value) ? 2 : 1;
    if (word.value === '--') break;
  }
  at += shape.operands ?? 0;
  while (shape.assigns && /^\w+=/.test(words[at]?.value ?? '')) at += 1;
  return at;
}

function takesNext(shape: Shape, option: string): boolean {
  if (option.startsWith('--')) return shape.long?.includes(option) ?? false;
  return (
    shape.valued.includes(option.at(-1) ?? ' ') &&
    [...option.slice(1, -1)].every((letter) => !shape.valued.includes(letter))
  );
}

/** The text after `-c`, which may be joined with other letters. */
function shellText(words: readonly KnownWord[]): readonly Wrapped[] {
  const at = words.findIndex((word) => /^[-+]\w*c\w*$/.test(word.value));
  if (at < 0) return [];
  const text = words.slice(at + 1).find((word) => !/^[-+]/.test(word.value));
  return text ? [asText(text)] : [];
}

function findActions(words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const starts = words.flatMap((word, index) =>
    /^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(word.value) ? [index + 1] : [],
  );
  if (starts.length === 0) return undefined;
  return starts.map((start) => {
    const rest = words.slice(start);
    const end = rest.findIndex((word) => word.value === ';' || word.value === '+');
    return { type: 'words', words: end < 0 ? rest : rest.slice(0, end) };
  });
}
