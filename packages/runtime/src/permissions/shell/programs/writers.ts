import type { ParsedCall } from '../options.js';
import {
  copied,
  downloaded,
  extracted,
  fetched,
  making,
  received,
  split,
  unzipped,
  zipped,
} from './made-files.js';
import { each, has, type Program, program, type Understood, valuesOf } from './program.js';

const archive =
  '-cxtrukvzjJahOpSWm -f: -C: -X: --create --extract --get --list --append --update --file= --directory= --verbose --gzip --bzip2 --xz ' +
  '--zstd --auto-compress --exclude= --strip-components= --keep-old-files --no-same-owner --same-permissions --preserve-permissions ' +
  '--no-recursion --dereference --exclude-vcs --wildcards --anchored --totals --one-file-system --sort= --owner= --group= --mtime= --numeric-owner';
const transfer = '-1246ACpqrTv -P: -i: -l: -c: -J:';

/** Programs that change what their words name, and run nothing else with the options listed here. */
export const writers: readonly (readonly [string, Program])[] = [
  [
    'cp',
    copier(
      (call) => has(call, '-L', '--dereference', '-H'),
      '-abdfiHlLnPprRsTuvx -t: -S: --archive --backup=? --force --interactive --link --dereference --no-clobber --no-dereference --preserve=? --parents --recursive --reflink=? --remove-destination --symbolic-link --suffix= --target-directory= --no-target-directory --update=? --verbose --one-file-system',
    ),
  ],
  [
    'mv',
    copier(
      () => false,
      '-bfinTuv -t: -S: --backup=? --force --interactive --no-clobber --suffix= --target-directory= --no-target-directory --update=? --verbose',
    ),
  ],
  [
    'rm',
    writer(
      '-dfirRIv --force --interactive=? --one-file-system --no-preserve-root --preserve-root=? --recursive --dir --verbose',
    ),
  ],
  ['mkdir', writer('-pv -m: --parents --verbose --mode=')],
  ['rmdir', writer('-pv --parents --verbose --ignore-fail-on-non-empty')],
  ['touch', writer('-acfhm -d: -r: -t: --date= --reference= --no-create --no-dereference --time=')],
  [
    'ln',
    copier(
      () => false,
      '-bfinrsTvLP -t: -S: --symbolic --force --interactive --relative --no-dereference --no-target-directory --target-directory= --verbose --backup=?',
    ),
  ],
  [
    'chmod',
    writer('-cfvRrwxXst --changes --silent --quiet --verbose --recursive --reference= --preserve-root'),
  ],
  [
    'chown',
    writer(
      '-cfvhR --changes --silent --quiet --verbose --recursive --no-dereference --reference= --from= --preserve-root',
    ),
  ],
  ['chgrp', writer('-cfvhR --recursive --verbose --quiet')],
  ['tee', writer('-aip --append --ignore-interrupts')],
  ['truncate', writer('-co -r: -s: --no-create --size= --reference=')],
  ['mktemp', writer('-dqtu -p: --directory --dry-run --quiet --suffix= --tmpdir=?')],
  [
    'install',
    copier(
      () => false,
      '-bcCdDpTv -g: -m: -o: -t: --directory --group= --mode= --owner= --target-directory= --verbose',
    ),
  ],
  // Letters without a dash may be given first: they are the same options.
  ['tar', tar],
  // It follows links unless an option keeps them.
  [
    'zip',
    making(
      zipped,
      linkedCopier(
        (call) => !has(call, '-y', '--symlinks'),
        '-rqvujym9876543210DXo -x: -i: -b: --recurse-paths --quiet --verbose --update --junk-paths --symlinks --move --exclude= --include=',
      ),
    ),
  ],
  ['unzip', making(unzipped, writer('-lqvontpjxaCLXZ -d: -x:'))],
  ...compressor('gzip gunzip', '.gz'),
  ...compressor('bzip2 bunzip2', '.bz2'),
  ...compressor('xz unxz', '.xz'),
  ...compressor('zstd unzstd', '.zst'),
  ...compressor('lz4', '.lz4'),
  ['zcat', writer('-fqv')],
  [
    'split',
    making(
      split,
      writer(
        '-dexu -a: -b: -C: -l: -n: --bytes= --lines= --number= --suffix-length= --numeric-suffixes=? --additional-suffix= --verbose',
      ),
    ),
  ],
  [
    'patch',
    writer(
      '-bElNRsfctuv -p: -i: -d: -r: -F: -V: --strip= --input= --directory= --dry-run --reverse --forward --force --batch --silent --quiet --verbose --no-backup-if-mismatch --reject-file= --fuzz= --backup',
    ),
  ],
  [
    'rsync',
    linkedCopier(
      (call) => has(call, '-L', '-k', '-K'),
      '-avzhrlptgoDcuinxqPHAXSRLkKWC -B: -T: --archive --verbose --compress --human-readable --recursive --delete --delete-after --delete-excluded --exclude= --include= --dry-run --progress --partial --update --checksum --links --perms --times --owner --group --stats --size-only --ignore-existing --itemize-changes --quiet --bwlimit= --max-size= --min-size= --relative --existing --inplace --mkpath --chmod=',
      namesHosts,
    ),
  ],
  ['scp', scp()],
  // What it reads may be commands of this machine: `!id`.
  ['sftp', () => undefined],
  [
    'curl',
    making(
      downloaded,
      program(
        'writes',
        '-sSLfIivkOJNgGaqR#046 -o: -X: -H: -d: -F: -u: -A: -e: -b: -c: -m: -w: -x: -y: -Y: -z: -C: -r: -T: --silent --show-error --location --fail ' +
          '--fail-with-body --head --include --verbose --insecure --remote-name --remote-header-name --request= --header= --data= --data-raw= ' +
          '--data-binary= --data-urlencode= --json= --form= --user= --user-agent= --referer= --cookie= --max-time= --connect-timeout= --retry= ' +
          '--retry-delay= --output= --write-out= --compressed --url= --get --http1.1 --http2 --progress-bar --no-progress-meter --max-redirs= ' +
          '--range= --continue-at= --upload-file= --create-dirs --ipv4 --ipv6 --no-buffer --globoff --proxy=',
        { fits: isPlainTransfer },
      ),
    ),
  ],
  [
    'wget',
    making(
      fetched,
      writer(
        '-qvcSNbrlkpEHLx -O: -P: -T: -t: -U: -o: -A: -R: -w: -l: --quiet --verbose --no-verbose --continue --output-document= --directory-prefix= ' +
          '--timeout= --tries= --user-agent= --header= --spider --server-response --no-check-certificate --recursive --level= --no-parent ' +
          '--mirror --show-progress --max-redirect= --post-data= --no-clobber --timestamping',
      ),
    ),
  ],
  [
    'kill',
    // A process by its number or that of its job: a number below zero is a whole group, or all there are.
    (words) =>
      words.every(
        ({ kind, value }, index) =>
          kind === 'literal' &&
          (index === 0 ? /^(?:-\d+|-[A-Z]+\d*|-s|-l|\d+|%\d+)$/ : /^(?:[A-Z]+\d*|\d+|%\d+)$/).test(value),
      )
        ? { role: 'writes', options: [], operands: [] }
        : undefined,
  ],
  ...each('pkill killall', writer('-efinouvx -u: -s: -t: -P: --full --exact --newest --oldest --signal=')),
  [
    'pgrep',
    program(
      'reads',
      '-aflnovxcwi -u: -U: -P: -t: -d: --full --list-name --list-full --exact --newest --oldest --count --delimiter=',
    ),
  ],
];

/**
 * Curl has little languages of its own, in which files are written and read under names that do not stand there: patterns
 * in addresses and what becomes of them in names of files, quotes and attributes in forms, outputs in formats. A format or
 * a list of addresses that stands in a file says nothing here.
 */
function isPlainTransfer(call: ParsedCall): boolean {
  const addresses = [...call.operands.map(({ value }) => value), ...valuesOf(call, '--url')];
  return (
    addresses.every((each) => isPlainAddress(each)) &&
    valuesOf(call, '-o', '--output').every((each) => !/#\d/.test(each)) &&
    valuesOf(call, '-T', '--upload-file').every((each) => !/[{}[\]]/.test(each)) &&
    valuesOf(call, '-w', '--write-out').every((each) => !/^@|%output/i.test(each)) &&
    valuesOf(call, '-F', '--form').every((each) => /^[^="]+=(?:[@<]?[^"@<;,\\]*)$/.test(each))
  );
}

/** Of the web or a file server, or without a scheme; a pattern may stand behind the host only. */
function isPlainAddress(address: string): boolean {
  if (address.startsWith('@')) return false;
  const start = address.split(/[/?#]/, 3).join('/');
  if (/[{}[\]\\\s]/.test(start.replace(/\[[\da-f:.]+\]/i, ''))) return false;
  const scheme = /^([a-z][a-z\d+.-]*):(?!\d)/i.exec(address)?.[1];
  return scheme === undefined || /^(?:https?|ftps?)$/i.test(scheme);
}

function scp(): Program {
  const inner = program('writes', transfer, {
    // Releases before 9.6 hand the name of a user or a host on the way to a shell.
    fits: (call) => namesHosts(call) && valuesOf(call, '-J').every((value) => /^[\w.@:,[\]-]*$/.test(value)),
  });
  return making(
    received,
    followingLinks(inner, (call) => has(call, '-r')),
  );
}

/** A host that begins with a dash is an option to the `ssh` that is to reach it. */
function namesHosts({ operands }: ParsedCall): boolean {
  return operands.every(({ value }) => !/^(?:[^/:]*@)?-/.test(value));
}

/** One that writes into a directory under the names of what it was given. */
function copier(follows: (call: ParsedCall) => boolean, options: string): Program {
  return making(copied, linkedCopier(follows, options));
}

/** Links are taken along by `-rf`, and by some always. */
function compressor(names: string, suffix: string): readonly (readonly [string, Program])[] {
  const isPressed = (call: ParsedCall) => suffix === '.lz4' || has(call, '-f', '--force');
  const inner = linkedCopier(
    (call) => has(call, '-r', '--recursive') && isPressed(call),
    '-cdfhkLlnNqrtvz123456789 -T: --stdout --to-stdout --decompress --force --keep --list --quiet --recursive --test --verbose --fast --best',
  );
  const made = ({ operands }: ParsedCall) => ({
    made: operands.flatMap(({ value }) =>
      value.endsWith(suffix) ? [value.slice(0, -suffix.length)] : [value + suffix],
    ),
  });
  return each(names, making(made, inner));
}

function writer(options: string, fits?: (call: ParsedCall) => boolean): Program {
  return program('writes', options, fits && { fits });
}

function linkedCopier(
  follows: (call: ParsedCall) => boolean,
  options: string,
  fits?: (call: ParsedCall) => boolean,
): Program {
  return followingLinks(writer(options, fits), follows);
}

/** A program that, called so, takes along what links inside a directory lead to. */
function followingLinks(inner: Program, follows: (call: ParsedCall) => boolean): Program {
  return (words) => {
    const call = inner(words);
    return call && follows(call) ? { ...call, followsLinksInside: true } : call;
  };
}

/** An archive with a colon in its name is on another machine, and reached by a command. */
const tarOptions = followingLinks(
  program('writes', archive, {
    fits: (call) => valuesOf(call, '-f', '--file').every((value) => !value.includes(':')),
  }),
  (call) => has(call, '-h', '--dereference'),
);

/** It lists what is in an archive, and does nothing else. */
function lists(call: Understood): boolean {
  return (
    has(call, '-t', '--list') &&
    has(call, '-f', '--file') &&
    call.options.every(({ name }) => !changesArchives.has(name))
  );
}

const changesArchives: ReadonlySet<string> = new Set(
  '-c -x -r -u --create --extract --get --append --update'.split(' '),
);

function tar(words: Parameters<Program>[0]): ReturnType<Program> {
  const [first, ...rest] = words;
  const isBundle = first?.kind === 'literal' && /^[a-zA-Z]+$/.test(first.value);
  if (!isBundle) return tarCall(words);
  // In a bundle the values come in the next words, in its order: one that takes a value, at most.
  const isPlain = /^[cxtrukvzjJahOpSWm]*f?[cxtrukvzjJahOpSWm]*$/.test(first.value);
  if (!isPlain) return undefined;
  const letters = first.value.replace('f', '');
  const bundle = { ...first, value: `-${letters}` };
  const file = first.value.includes('f') ? [{ ...first, value: '-f' }] : [];
  return tarCall([...(letters === '' ? [] : [bundle]), ...file, ...rest]);
}

function tarCall(words: Parameters<Program>[0]): ReturnType<Program> {
  const call = making(extracted, tarOptions)(words);
  return call && lists(call) ? { ...call, role: 'reads' } : call;
}
