import { basename, join, posix } from 'node:path';
import type { ParsedCall } from '../options.js';
import { has, type Program, type Understood, valuesOf } from './program.js';

/** Files that a call writes besides those its words name. */
type Made = Pick<Understood, 'made' | 'filled' | 'unpacked'>;

/** A program that writes files under names made of its words: a link of such a name would lead it elsewhere. */
export function making(made: (call: ParsedCall) => Made, inner: Program): Program {
  return (words) => {
    const call = inner(words);
    return call && { ...call, ...made(call) };
  };
}

/** What is copied into a directory keeps its name; of a tree so do all files in it. */
export function copied(call: ParsedCall): Made {
  const written = call.operands.map(({ value }) => value);
  const [named] = valuesOf(call, '-t', '--target-directory');
  const target = named ?? written.at(-1);
  if (target === undefined) return {};
  const sources = named === undefined ? written.slice(0, -1) : written;
  const made = sources.map((source) => join(target, nameIn(source, call)));
  const isTree = has(call, '-r', '-R', '-a', '--recursive', '--archive');
  return isTree ? { made, filled: made } : { made };
}

/** `a/.` is all that is in `a`. */
function nameIn(source: string, call: ParsedCall): string {
  if (has(call, '-T', '--no-target-directory') || source.endsWith('/.')) return '.';
  return has(call, '--parents') ? source : basename(source);
}

/** A number of letters is added to the prefix. */
export function split({ operands }: ParsedCall): Made {
  return { made: [`${operands[1]?.value ?? 'x'}*`] };
}

export function zipped({ operands: [archive] }: ParsedCall): Made {
  return archive ? { made: [`${archive.value}.zip`] } : {};
}

/** Of curl, which names a file as the address does. */
export function downloaded(call: ParsedCall): Made {
  if (!has(call, '-O', '--remote-name')) return {};
  // The server chooses the name.
  if (has(call, '-J', '--remote-header-name')) return { made: ['*'] };
  const addresses = [...call.operands.map(({ value }) => value), ...valuesOf(call, '--url')];
  const names = addresses.map((address) => basename(address.split(/[?#]/, 1)[0] ?? ''));
  // Patterns of its own may become any name.
  return { made: names.map((name) => (/[{}[\]]/.test(name) ? '*' : name)) };
}

/**
 * Of wget, which adds a number to a name that is taken, and makes directories for what it fetches as a tree. It decodes and
 * shortens addresses in ways of its own: of one that is not plain the name may be any.
 */
export function fetched(call: ParsedCall): Made {
  if (has(call, '-O', '--output-document')) return {};
  const [directory = '.'] = valuesOf(call, '-P', '--directory-prefix');
  const addresses = call.operands.map(({ value }) => value.replace(/^[a-z]+:\/\//i, ''));
  const isTree = has(call, '-r', '-x', '-p', '--recursive', '--mirror');
  if (isTree) return { filled: addresses.map((address) => join(directory, hostIn(address, call))) };
  const names = addresses.map((address) => {
    if (/[%?#;\\]/.test(address)) return '*';
    const file = posix.normalize(`/${address.split('/').slice(1).join('/')}`);
    return file.endsWith('/') ? 'index.html' : basename(file);
  });
  return { made: names.flatMap((name) => [join(directory, name), join(directory, `${name}.*`)]) };
}

function hostIn(address: string, call: ParsedCall): string {
  const host = address.split('/', 1)[0] ?? '';
  return has(call, '-H') || !/^[a-z\d.-]+$/.test(host) ? '*' : host;
}

/** Of scp, which writes into a directory under the name that a file has on the other machine. */
export function received(call: ParsedCall): Made {
  const written = call.operands.map(({ value }) => value);
  const target = written.at(-1);
  if (target === undefined || written.length < 2) return {};
  const made = written
    .slice(0, -1)
    .map((source) => join(target, basename(source.replace(/^.*:/, '')) || '*'));
  return has(call, '-r') ? { made, filled: made } : { made };
}

/** Of `git clone`, which names the directory as the address does unless it is told a name. */
export function cloned({ operands: [address, directory] }: ParsedCall): Made {
  if (!address || directory) return {};
  const place = address.value.replace(/[/\s]*(?:\/\.git)?[/\s]*$/, '');
  const name = place.split(/[/:]/).at(-1) ?? '';
  const plain = name.replace(/\.(?:git|bundle)$/, '');
  // It replaces what is no plain letter.
  return { made: /^[\w.@+~-]+$/.test(name) ? [name, plain, `${plain}.git`] : ['*'] };
}

/** Of tar: each directory that is named counts from the one before. */
export function extracted(call: ParsedCall): Made {
  if (!has(call, '-x', '--extract', '--get') || has(call, '-O')) return {};
  return { unpacked: [join('.', ...valuesOf(call, '-C', '--directory'))] };
}

/** Of unzip, which otherwise lists, tests or prints. */
export function unzipped(call: ParsedCall): Made {
  return has(call, '-l', '-v', '-t', '-p', '-Z') ? {} : { unpacked: [valuesOf(call, '-d')[0] ?? '.'] };
}
