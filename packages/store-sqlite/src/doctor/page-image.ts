import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { type LogImage, readLog, readLogFile } from '../write-ahead-log.js';

const magic = 'SQLite format 3\0';
const usualPageSize = 4096;

/**
 * The pages of a database and its log as they lie on the disk, whatever SQLite thinks of them. Its file handles stay open
 * until `close`: closing one drops the locks that SQLite holds on the file in this process.
 */
export class PageImage {
  readonly pageSize: number;
  readonly pageCount: number;
  readonly log: LogImage;
  readonly #file: number;
  readonly #logBytes: Buffer;

  constructor(file: string) {
    this.#file = openSync(file, 'r');
    const header = Buffer.alloc(100);
    readSync(this.#file, header, 0, header.length, 0);
    const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
    const isWhole = header.toString('latin1', 0, magic.length) === magic && isPageSize(pageSize);
    this.#logBytes = readLogFile(`${file}-wal`);
    this.log = readLog(this.#logBytes, isWhole ? pageSize : usualPageSize);
    this.pageSize = isWhole ? pageSize : this.log.pageSize;
    this.pageCount = Math.max(this.log.pageCount, Math.ceil(fstatSync(this.#file).size / this.pageSize));
  }

  /** One page, counted from 1; undefined when it is not there. What the file lacks of it is zeros. */
  page(number: number): Buffer | undefined {
    if (number < 1 || number > this.pageCount) return undefined;
    const inLog = this.log.pages.get(number);
    if (inLog !== undefined) return this.#logBytes.subarray(inLog, inLog + this.pageSize);
    const page = Buffer.alloc(this.pageSize);
    readSync(this.#file, page, 0, page.length, (number - 1) * this.pageSize);
    return page;
  }

  /** Pages that SQLite has marked as unused: what they hold was deleted. Empty when the list of them is lost. */
  freePages(): ReadonlySet<number> {
    const free = new Set<number>();
    const first = this.page(1);
    if (!first || first.toString('latin1', 0, magic.length) !== magic) return free;
    for (let trunk = first.readUInt32BE(32); trunk !== 0 && !free.has(trunk); ) {
      const page = this.page(trunk);
      if (!page) break;
      free.add(trunk);
      const leaves = Math.min(page.readUInt32BE(4), this.pageSize / 4 - 2);
      for (let index = 0; index < leaves; index += 1) free.add(page.readUInt32BE(8 + index * 4));
      trunk = page.readUInt32BE(0);
    }
    return free;
  }

  close(): void {
    closeSync(this.#file);
  }
}

function isPageSize(bytes: number): boolean {
  return bytes >= 512 && (bytes & (bytes - 1)) === 0;
}
