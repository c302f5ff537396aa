import { resolve } from 'node:path';
import { isWithin } from '../workspace/paths.js';
import { patternParts } from './real-rules.js';
import type { Rule } from './rules.js';
import type { Subject } from './subject.js';

/**
 * Of the deny rules for paths that no sandbox enforces, the first whose path a command could touch although its text does not
 * say so. Such a command is never allowed unasked.
 */
export function reachableRule(subject: Subject, unenforced: readonly Rule[]): Rule | undefined {
  if (subject.request?.kind !== 'shell') return undefined;
  return unenforced.find((rule) => !staysAway(subject, rule));
}

function staysAway(subject: Subject, { kind, argument }: Rule): boolean {
  const { request, commands, paths, workingDirectory } = subject;
  if (request?.kind !== 'shell' || !request.canOfferSessionApproval) return false;
  if (!request.commands.every(({ readOnly }) => readOnly) || request.hasWriteFileRedirection) return false;
  if (kind === 'write') return true;
  const { plain } = patternParts(argument ?? '');
  const denied = resolve(workingDirectory, plain);
  return (
    commands.every(({ words }) => readsWhatItNames(words)) &&
    paths.every(
      ({ names }) => names.length > 0 && !names.some((name) => plain !== '' && isWithin(name, denied)),
    )
  );
}

/** Programs that open the files they are given and no others; what they do with directories is to complain. */
const plainReaders: ReadonlySet<string> = new Set([
  'basename',
  'cat',
  'cksum',
  'cut',
  'date',
  'dirname',
  'echo',
  'false',
  'head',
  'hostname',
  'id',
  'md5sum',
  'nl',
  'printf',
  'pwd',
  'sha1sum',
  'sha256sum',
  'sha512sum',
  'stat',
  'tail',
  'tr',
  'true',
  'uname',
  'uniq',
  'wc',
  'which',
  'whoami',
]);

function readsWhatItNames([name = '', ...words]: readonly string[]): boolean {
  if (name === 'ls') return !words.some((word) => /^-(?:[^-]*R|-r)/.test(word));
  return plainReaders.has(name);
}
