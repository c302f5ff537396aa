import { BlockList, isIP } from 'node:net';

/** Whether an address belongs to the whole internet: not to this machine, a private network, a link or a special use. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  if (isIP(plain) === 4) return !special.check(plain, 'ipv4');
  if (isIP(plain) !== 6 || special.check(plain, 'ipv6')) return false;
  const inside = embedded(plain);
  return inside === undefined || isPublicAddress(inside);
}

const special = blockList([
  // "This" network, private, shared, loopback, link-local, benchmarks, documentation, multicast, reserved.
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  // Unspecified and loopback, local translation, discard, Teredo, documentation, unique local, link- and site-local, multicast.
  ['::', 127],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 32],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
]);

function blockList(subnets: readonly (readonly [string, number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) {
    list.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** The IPv4 address that an IPv6 one stands for: mapped, compatible, translated, or 6to4. */
function embedded(address: string): string | undefined {
  const groups = groupsOf(address);
  const head = groups.slice(0, 6).join(':');
  if (mappings.has(head)) return dotted(groups[6] ?? 0, groups[7] ?? 0);
  return groups[0] === 0x2002 ? dotted(groups[1] ?? 0, groups[2] ?? 0) : undefined;
}

/** `::ffff:0:0/96`, `::/96`, `::ffff:0:0:0/96` and `64:ff9b::/96`, in decimal groups. */
const mappings: ReadonlySet<string> = new Set([
  '0:0:0:0:0:65535',
  '0:0:0:0:0:0',
  '0:0:0:0:65535:0',
  '100:65435:0:0:0:0',
]);

function groupsOf(address: string): readonly number[] {
  const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [head = '', tail] = canonical.split('::');
  const before = hexGroups(head);
  if (tail === undefined) return before;
  const after = hexGroups(tail);
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

function hexGroups(text: string): readonly number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
