/**
 * Paths of the repositories that an index has in it; undefined when it cannot be read. `hashBytes` is how long the
 * repository's names of objects are.
 */
export function nestedRepositories(index: Buffer, hashBytes: 20 | 32): readonly string[] | undefined {
  if (index.length < headerBytes || index.toString('latin1', 0, 4) !== 'DIRC') return undefined;
  const version = index.readUInt32BE(4);
  const count = index.readUInt32BE(8);
  if (version < 2 || version > 4) return undefined;
  const nested: string[] = [];
  let at = headerBytes;
  let previous = '';
  for (let entry = 0; entry < count; entry += 1) {
    const flagsAt = at + statBytes + hashBytes;
    if (flagsAt + 2 > index.length) return undefined;
    const isNested = index.readUInt32BE(at + modeAt) === gitlink;
    const flags = index.readUInt16BE(flagsAt);
    const isExtended = version > 2 && (flags & 0x4000) !== 0;
    const name = nameAt(index, flagsAt + (isExtended ? 4 : 2), { version, flags, previous, isNested });
    if (!name) return undefined;
    if (isNested) nested.push(name.path);
    previous = name.path;
    // Entries of the older versions are filled up to a multiple of eight.
    at = version === 4 ? name.end + 1 : at + ((name.end - at + 8) & ~7);
  }
  return isSplit(index, at, hashBytes) ? undefined : nested;
}

const headerBytes = 12;
const gitlink = 0o160000;
const modeAt = 24;
/** Times, device, mode, owner and size. */
const statBytes = 40;
const longestCounted = 0xfff;

interface Entry {
  readonly version: number;
  readonly flags: number;
  /** The path before; the newest version writes only what differs. */
  readonly previous: string;
  readonly isNested: boolean;
}

function nameAt(
  index: Buffer,
  start: number,
  { version, flags, previous, isNested }: Entry,
): { readonly path: string; readonly end: number } | undefined {
  const length = flags & 0xfff;
  if (version < 4) {
    const end = length < longestCounted ? start + length : index.indexOf(0, start);
    if (end < start || end >= index.length || index[end] !== 0) return undefined;
    return { path: isNested ? index.toString('latin1', start, end) : '', end };
  }
  let at = start;
  let byte = index[at] ?? 0;
  let dropped = byte & 0x7f;
  while ((byte & 0x80) !== 0 && at < index.length) {
    at += 1;
    byte = index[at] ?? 0;
    dropped = (dropped + 1) * 128 + (byte & 0x7f);
  }
  const end = index.indexOf(0, at + 1);
  if (end < 0 || dropped > previous.length) return undefined;
  const path = previous.slice(0, previous.length - dropped) + index.toString('latin1', at + 1, end);
  return { path, end };
}

/** Entries of a split index stand in another file. */
function isSplit(index: Buffer, start: number, hashBytes: number): boolean {
  for (let at = start; at + 8 <= index.length - hashBytes; at += 8 + index.readUInt32BE(at + 4))
    if (index.toString('latin1', at, at + 4) === 'link') return true;
  return false;
}
