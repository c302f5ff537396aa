import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { link, rename, rm, stat } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';

/**
 * Packs files of a directory into a compressed archive; resolves with its path. There is never half an archive under that
 * name. `isKept`: one that is there stays, and the new one gets a number.
 */
export async function packDirectory(pack: {
  readonly directory: string;
  readonly names: readonly string[];
  readonly target: string;
  readonly isKept: boolean;
}): Promise<string> {
  const { directory, names, target, isKept } = pack;
  const draft = join(dirname(target), `.${randomUUID()}.tgz`);
  try {
    const output = createWriteStream(draft, { mode: 0o600, flags: 'wx' });
    await pipeline(Readable.from(blocks(directory, names)), createGzip(), output);
    if (isKept) return await linkFree(draft, target);
    await rename(draft, target);
    return target;
  } finally {
    await rm(draft, { force: true });
  }
}

const mostNumbers = 1000;

async function linkFree(draft: string, target: string): Promise<string> {
  const end = extname(target);
  const stem = target.slice(0, target.length - end.length);
  for (let number = 0; number < mostNumbers; number++) {
    const path = number === 0 ? target : `${stem} (${number})${end}`;
    try {
      await link(draft, path);
      return path;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`${target} and ${mostNumbers} more are there already`);
}

const block = 512;

async function* blocks(directory: string, names: readonly string[]): AsyncIterable<Buffer> {
  for (const name of names) {
    const path = join(directory, ...name.split('/'));
    const { size } = await stat(path);
    if (Buffer.byteLength(name) > longestName) {
      const record = Buffer.from(pathRecord(name));
      yield header({ name: 'path', size: record.length, type: 'x' });
      yield padded(record);
    }
    yield header({ name, size, type: '0' });
    for await (const chunk of createReadStream(path)) yield chunk as Buffer;
    yield Buffer.alloc((block - (size % block)) % block);
  }
  yield Buffer.alloc(2 * block);
}

/** What the field for it takes; longer names stand in a record of their own before. */
const longestName = 100;

/** A record says its own length, with the digits of that. */
function pathRecord(name: string): string {
  const rest = ` path=${name}\n`;
  const plain = Buffer.byteLength(rest);
  const length = plain + String(plain + String(plain).length).length;
  return `${length}${rest}`;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((block - (bytes.length % block)) % block)]);
}

function header({
  name,
  size,
  type,
}: {
  readonly name: string;
  readonly size: number;
  readonly type: 'x' | '0';
}): Buffer {
  const head = Buffer.alloc(block);
  head.write(name, 0, longestName, 'utf8');
  head.write('0000600\0', 100);
  head.write('0000000\0', 108);
  head.write('0000000\0', 116);
  head.write(`${size.toString(8).padStart(11, '0')}\0`, 124);
  head.write('00000000000\0', 136);
  head.write('        ', 148);
  head.write(type, 156);
  head.write('ustar\u000000', 257);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return head;
}
