import type { SqliteValue } from '../driver.js';
import type { PageImage } from './page-image.js';

/** A row as it lies on a page; its shape shows which table it belongs to. */
export interface LeafRow {
  readonly rowid: number;
  readonly values: readonly SqliteValue[];
}

const tableLeaf = 0x0d;
const longestPayload = 1_000_000_000;

/**
 * All rows on pages that are in use, in no order, without the way that leads to them: a table whose inner pages, or whose
 * very entry in the schema, are damaged still gives the rows of its whole pages.
 */
export function* leafRows(image: PageImage): Generator<LeafRow> {
  const free = image.freePages();
  for (let number = 1; number <= image.pageCount; number += 1) {
    const page = free.has(number) ? undefined : image.page(number);
    const header = number === 1 ? 100 : 0;
    if (!page || page[header] !== tableLeaf) continue;
    const cells = Math.min(page.readUInt16BE(header + 3), (image.pageSize - header - 8) >> 1);
    for (let index = 0; index < cells; index += 1) {
      const row = rowAt(image, page, page.readUInt16BE(header + 8 + index * 2));
      if (row) yield row;
    }
  }
}

/** Undefined when the cell makes no sense: reading beyond a page, or a chain that breaks off. */
function rowAt(image: PageImage, page: Buffer, offset: number): LeafRow | undefined {
  try {
    const [size, afterSize] = readVarint(page, offset);
    const [rowid, start] = readVarint(page, afterSize);
    if (size > longestPayload) return undefined;
    const payload = readPayload(image, { page, start, size });
    return payload && { rowid, values: readValues(payload) };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function readPayload(
  image: PageImage,
  { page, start, size }: { readonly page: Buffer; readonly start: number; readonly size: number },
): Buffer | undefined {
  const local = localBytes(size, image.pageSize);
  if (start + local > page.length) return undefined;
  if (local === size) return page.subarray(start, start + size);
  const parts = [page.subarray(start, start + local)];
  let next = page.readUInt32BE(start + local);
  for (let missing = size - local; missing > 0; missing -= image.pageSize - 4) {
    const overflow = image.page(next);
    if (!overflow) return undefined;
    parts.push(overflow.subarray(4, 4 + Math.min(missing, image.pageSize - 4)));
    next = overflow.readUInt32BE(0);
  }
  return Buffer.concat(parts);
}

/** How much of a payload is on the leaf itself, by the rule of SQLite's file format. */
function localBytes(size: number, pageSize: number): number {
  const most = pageSize - 35;
  if (size <= most) return size;
  const least = Math.floor(((pageSize - 12) * 32) / 255) - 23;
  const wanted = least + ((size - least) % (pageSize - 4));
  return wanted <= most ? wanted : least;
}

function readValues(payload: Buffer): readonly SqliteValue[] {
  const [headerEnd, start] = readVarint(payload, 0);
  const values: SqliteValue[] = [];
  let at = headerEnd;
  for (let position = start; position < headerEnd; ) {
    const [type, next] = readVarint(payload, position);
    const bytes = bytesOf(type);
    if (at + bytes > payload.length) throw new RangeError('A value ends behind its row');
    values.push(decode(type, payload.subarray(at, at + bytes)));
    at += bytes;
    position = next;
  }
  return values;
}

const numberBytes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0];

function bytesOf(type: number): number {
  if (type >= 12) return (type - (type % 2 === 0 ? 12 : 13)) / 2;
  const bytes = numberBytes[type];
  if (bytes === undefined) throw new RangeError('A type that SQLite does not write');
  return bytes;
}

function decode(type: number, bytes: Buffer): SqliteValue {
  if (type === 0) return null;
  if (type >= 12) return type % 2 === 0 ? bytes : bytes.toString('utf8');
  if (type === 7) return bytes.readDoubleBE(0);
  if (type === 6) return Number(bytes.readBigInt64BE(0));
  return bytes.length === 0 ? type - 8 : bytes.readIntBE(0, bytes.length);
}

/** SQLite's variable-length number, and where it ends. */
function readVarint(bytes: Buffer, offset: number): readonly [number, number] {
  let value = 0;
  for (let index = 0; index < 8; index += 1) {
    const byte = bytes.readUInt8(offset + index);
    value = value * 128 + (byte & 0x7f);
    if (byte < 0x80) return [value, offset + index + 1];
  }
  return [value * 256 + bytes.readUInt8(offset + 8), offset + 9];
}
