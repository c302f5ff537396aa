/**
 * Whether an address is what a rule names: a host stands for itself and all below it, an address with a scheme for
 * itself and all paths below, `*` for every address.
 */
export function addressCovers(pattern: string, url: string): boolean {
  const isWhole = hasScheme.test(pattern);
  const given = parsed(url);
  if (pattern === '*') return given !== undefined;
  const wanted = parsed(isWhole ? pattern : `https://${pattern.replace(/^\*\./, '')}`);
  if (!given || !wanted) return false;
  if (!isSameOrBelow(hostOf(given), hostOf(wanted), { mayBeBelow: !isWhole })) return false;
  if (isWhole && given.protocol !== wanted.protocol) return false;
  const port = isWhole ? wanted.port : writtenPort(pattern);
  if (port !== '' && port !== portOf(given)) return false;
  return isBelow(pathOf(given), pathOf(wanted));
}

/** A host that an approval may be kept for: a name or an address, nothing around it. */
export function isHost(domain: string): boolean {
  const wanted = parsed(`https://${domain}`);
  return wanted !== undefined && wanted.href === `https://${domain.toLowerCase()}/`;
}

const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i;

function parsed(address: string): URL | undefined {
  return URL.canParse(address) ? new URL(address) : undefined;
}

/** `example.com.` is `example.com`. */
function hostOf({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443', 'ftp:': '21' };

function portOf({ port, protocol }: URL): string {
  return port || (defaultPorts[protocol] ?? '');
}

/** One that a parser would leave out because it is usual counts all the same. */
function writtenPort(pattern: string): string {
  return /^[^/]*:(\d+)(?:\/|$)/.exec(pattern)?.[1] ?? '';
}

function isSameOrBelow(
  host: string,
  wanted: string,
  { mayBeBelow }: { readonly mayBeBelow: boolean },
): boolean {
  if (host === '' || wanted === '') return false;
  return host === wanted || (mayBeBelow && host.endsWith(`.${wanted}`));
}

/** As it was meant, however it was escaped. */
function pathOf({ pathname }: URL): string {
  const plain = pathname.replace(/\/+$/, '').replace(/\/\*+$/, '');
  try {
    return decodeURIComponent(plain);
  } catch {
    // An escape that means nothing is taken as it stands.
    return plain;
  }
}

function isBelow(path: string, wanted: string): boolean {
  return path === wanted || path.startsWith(`${wanted}/`);
}
