import type { KnownWord } from '../command-word.js';
import { plainName } from '../plain-name.js';
import { builtins } from './builtins.js';
import { git } from './git.js';
import { languages } from './languages.js';
import type { Program, Understood } from './program.js';
import { readers } from './readers.js';
import { runners } from './runners.js';
import { searchers } from './searchers.js';
import { writers } from './writers.js';

const programs: ReadonlyMap<string, Program> = new Map<string, Program>([
  ...builtins,
  ...readers,
  ...searchers,
  ...languages,
  ...writers,
  ...runners,
  ['git', git],
]);

/** What a command does, when the table knows its program and all of its words; undefined otherwise. */
export function understand(name: string, words: readonly KnownWord[]): Understood | undefined {
  const program = plainName(name);
  if (isVersionQuestion(program, words)) return { role: 'reads', options: [], operands: [] };
  return programs.get(program)?.(words);
}

/** The table has the program, whatever its words are. */
export function isInTable(name: string): boolean {
  return programs.has(plainName(name));
}

/** Whatever it is given, it runs nothing else. */
export function isInert(name: string): boolean {
  return inert.has(plainName(name));
}

/** Whatever it is given, it changes nothing and runs nothing. */
export function isInertReader(name: string): boolean {
  return inertReaders.has(plainName(name));
}

const inertReaders = new Set(
  (
    'ls pwd echo cat head tail wc nl tac rev cut tr paste comm cmp stat du df basename dirname realpath readlink whoami id ' +
    'groups uname true false uptime printenv arch nproc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum sum ' +
    'b2sum od seq sleep fold expand unexpand grep egrep fgrep cd :'
  ).split(' '),
);
const inert = new Set([
  ...inertReaders,
  ...'rm cp mv mkdir rmdir touch ln chmod chown chgrp tee truncate mktemp date kill exit break continue'.split(
    ' ',
  ),
]);

/** They say their version and do nothing else, whatever the directory they are asked in has in it. */
const printsVersion = new Set(
  (
    'node nodejs npm deno bun python python3 pip pip3 ruby perl php java javac gcc g++ clang clang++ cc c++ cmake ninja make ' +
    'git docker podman gh tar zip unzip gzip curl wget rsync bash jq rg fd sqlite3 psql redis-cli nginx ' +
    'aws kubectl tsc ffmpeg openssl ssh awk sed grep find ls cat'
  ).split(' '),
);

/** The same in one letter. */
const versionLetters: ReadonlyMap<string, string> = new Map([
  ['node', '-v'],
  ['npm', '-v'],
  ['tsc', '-v'],
  ['php', '-v'],
  ['ruby', '-v'],
  ['perl', '-v'],
  ['python', '-V'],
  ['python3', '-V'],
]);

function isVersionQuestion(program: string, words: readonly KnownWord[]): boolean {
  const [only] = words;
  if (words.length !== 1 || only?.kind !== 'literal') return false;
  return (
    (only.value === '--version' && printsVersion.has(program)) || only.value === versionLetters.get(program)
  );
}
