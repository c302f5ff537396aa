/** One server that may be the primary. */
export interface Address {
  /** With the password: never shown. */
  readonly url: string;
  /** Host, port and database, for users to read. */
  readonly name: string;
  /** The schema of the tables; default: the first one of the role's `search_path`. */
  readonly schema?: string;
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
  const name = `postgres://${host}:${port || '5432'}${decode(pathname)}`;
  const schema = searchParams.get('schema');
  if (schema === null) return { url, name };
  if (schema.length > longestSchema || !/^[a-z_][a-z0-9_-]*(?::[a-z0-9_-]+)?$/.test(schema))
    throw new BadAddress(
      'The parameter schema needs up to 63 of a-z, 0-9, _ and -, with a letter first; what follows a colon is the name of a tenant.',
    );
  return { url: withoutSchema(url), name: `${name}?schema=${schema}`, schema };
}

const longestSchema = 63;

/** The library would take a parameter that it does not know for a setting of the server. */
function withoutSchema(url: string): string {
  const [start = '', query = ''] = url.split('?');
  const rest = query.split('&').filter((part) => !/^schema=/.test(part));
  return rest.length === 0 ? start : `${start}?${rest.join('&')}`;
}

/** The same address, with the tables in another schema. Throws BadAddress. */
export function withSchema(text: string, schema: string): string {
  const added = readAddresses(text).map(
    ({ url }) => `${url}${url.includes('?') ? '&' : '?'}schema=${schema}`,
  );
  readAddresses(added.join(','));
  return added.join(',');
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new BadAddress(expected);
  }
}
