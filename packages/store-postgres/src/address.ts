/** One server that may be the primary. */
export interface Address {
  /** With what opens it: never shown. */
  readonly url: string;
  /** Host, port and database, for users to read. */
  readonly name: string;
}

/** What was given is no address of PostgreSQL. The text is not repeated: it may hold a password. */
export class BadAddress extends Error {
  override readonly name = 'BadAddress';
}

/**
 * Reads one URL or several, separated by commas or spaces; a URL may name several hosts, as libpq allows. Throws
 * BadAddress.
 */
export function readAddresses(text: string): readonly Address[] {
  const urls = text.trim().split(/[\s,]+(?=postgres(?:ql)?:\/\/)/i);
  return urls.flatMap((url) => oneHostEach(url)).map(readAddress);
}

function oneHostEach(url: string): readonly string[] {
  const [, start = '', hosts = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^/?]*)(.*)$/is.exec(url) ?? [];
  if (start === '') throw new BadAddress(expected);
  return hosts.split(',').map((host) => start + host.trim() + rest);
}

const expected =
  'A PostgreSQL store needs an address such as postgres://user:password@host:5432/database; several are separated by commas.';

function readAddress(url: string): Address {
  if (!URL.canParse(url)) throw new BadAddress(expected);
  const { hostname, port, pathname, searchParams } = new URL(url);
  // A password with a raw slash would show as the name of a database.
  if (!/^\/?[^/@]*$/.test(pathname)) throw new BadAddress(expected);
  const host = searchParams.get('host') ?? (decode(hostname) || 'localhost');
  return { url, name: `postgres://${host}:${port || '5432'}${decode(pathname)}` };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new BadAddress(expected);
  }
}
