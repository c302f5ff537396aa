import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { isPublicAddress } from './addresses.js';

/** Looks up the addresses of a host. */
export type LookUp = (host: string) => Promise<readonly { readonly address: string }[]>;

/** The resolver of the system. */
export const systemLookUp: LookUp = (host) => lookup(host, { all: true });

/** Where a URL leads: the address to connect to, or the one that is not public. */
export async function addressOf(
  url: URL,
  lookUp: LookUp = systemLookUp,
): Promise<{ readonly address: string } | { readonly blocked: string; readonly address: string }> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const found = isIP(host) ? [{ address: host }] : await lookUp(host);
  const [chosen] = found;
  if (!chosen) throw new Error('its host has no address');
  const blocked = found.find(({ address }) => !isPublicAddress(address));
  return blocked ? { address: chosen.address, blocked: blocked.address } : { address: chosen.address };
}

/** Whatever host it is asked for, the answer is the address that was checked: a name that changes its mind changes nothing. */
export function always(address: string): LookupFunction {
  const family = isIP(address);
  return (_host, { all }, answer) =>
    all ? answer(null, [{ address, family }]) : answer(null, address, family);
}

/** Answers with the address that a URL leads to now, whatever is asked for; throws where one is not public, unless it may be. */
export async function publicLookup(
  url: URL,
  { allowsPrivate }: { readonly allowsPrivate: boolean },
): Promise<LookupFunction> {
  const found = await addressOf(url);
  if ('blocked' in found && !allowsPrivate) throw new Error('it leads to an address that is not public');
  return always(found.address);
}
