/** Bytes of a page, from `start` up to but not including `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

const interiorTypes: ReadonlySet<number> = new Set([0x02, 0x05]);
const leafTypes: ReadonlySet<number> = new Set([0x0a, 0x0d]);
const smallestBlock = 4;

/**
 * The bytes of a b-tree page that belong to no row and are not zero: copies that SQLite leaves behind when it moves rows
 * from page to page, which `secure_delete` does not reach. They are never read, so they can be overwritten at any time. A page
 * that is anything else, or that is not consistent in itself, has none.
 */
export function unusedBytes(page: Buffer, { header }: { readonly header: 0 | 100 }): readonly ByteRange[] {
  const type = page.readUInt8(header);
  const isInterior = interiorTypes.has(type);
  if (!isInterior && !leafTypes.has(type)) return [];
  const cells = page.readUInt16BE(header + 3);
  const pointers = header + (isInterior ? 12 : 8);
  const gap = { start: pointers + cells * 2, end: page.readUInt16BE(header + 5) || 65_536 };
  if (gap.start > gap.end || gap.end > page.length) return [];
  for (let at = pointers; at < gap.start; at += 2) {
    const cell = page.readUInt16BE(at);
    if (cell < gap.end || cell >= page.length) return [];
  }
  const blocks = freeBlocks(page, page.readUInt16BE(header + 1), gap.end);
  return blocks === undefined ? [] : [gap, ...blocks].filter((range) => !isZero(page, range));
}

/** Whether all of them are zero. */
export function isZero(page: Buffer, { start, end }: ByteRange): boolean {
  for (let at = start; at < end; at += 1) if (page[at] !== 0) return false;
  return true;
}

/** The room that deleted rows left, without the four bytes that chain it; undefined when the chain makes no sense. */
function freeBlocks(page: Buffer, first: number, contentStart: number): readonly ByteRange[] | undefined {
  const blocks: ByteRange[] = [];
  let least = contentStart;
  for (let at = first; at !== 0; ) {
    if (at < least || at + smallestBlock > page.length) return undefined;
    const size = page.readUInt16BE(at + 2);
    if (size < smallestBlock || at + size > page.length) return undefined;
    blocks.push({ start: at + smallestBlock, end: at + size });
    least = at + size;
    at = page.readUInt16BE(at);
  }
  return blocks;
}
