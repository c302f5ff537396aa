import { bareUrl, type KnownWord, pathsIn, remotePlace, urlsIn } from './command-word.js';
import { plainName } from './plain-name.js';
import type { Findings } from './reading.js';

/** Notes the paths and addresses that a command names in its words. */
export function recordArguments(
  name: string,
  words: readonly KnownWord[],
  {
    findings,
    texts = [],
  }: { readonly findings: Findings; readonly texts?: readonly KnownWord[] | undefined },
): void {
  const program = plainName(name);
  if (name.includes('/')) findings.path(name);
  if (movers.has(program) && words.length === 0) findings.path('~');
  // Where it was before, only the environment says.
  if (movers.has(program) && words.some(({ value }) => value === '-')) findings.path('$OLDPWD');
  for (const [index, word] of words.entries()) {
    if (texts.includes(word)) continue;
    const value = word.kind === 'dynamic' ? word.value.replaceAll('"', '') : word.value;
    for (const url of urlsIn(value)) findings.url(url);
    const address = bareAddress(program, value, words[index - 1]?.value ?? '');
    if (address !== undefined) findings.url(address);
    else for (const path of pathsIn(value)) findings.path(path);
  }
}

/** An address that a program understands without its scheme. */
function bareAddress(program: string, value: string, before: string): string | undefined {
  if (remoteTools.has(program)) return remotePlace(value);
  const optionOfFetcher = fetchers.get(program);
  return optionOfFetcher && !optionOfFetcher.test(before) ? bareUrl(value) : undefined;
}

/** They take addresses without a scheme; after one of these options comes something else. */
const fetchers = new Map([
  ['curl', /^(?:-[odHXuAbceFTxmwK]|--(?:output|data|header|request|user|cookie|form|proxy|max-time).*)$/],
  ['wget', /^(?:-[oOPUT]|--(?:output|header|user|directory).*)$/],
  ['http', /^--(?:output|auth)$/],
  ['xh', /^--(?:output|auth)$/],
  ...['nc', 'ncat', 'netcat', 'telnet', 'ftp', 'ping', 'dig', 'nslookup', 'host', 'whois', 'traceroute'].map(
    (name) => [name, /^-[bcfiIpqstwWxX]$/] as const,
  ),
]);
const remoteTools = new Set(['git', 'scp', 'rsync', 'sftp']);
const movers = new Set(['cd', 'pushd']);
