import type { FileHandle } from 'node:fs/promises';

/** What model services still take. */
export const largestImageBytes = 10 * 1024 * 1024;

/** The kind of image a file holds, told by its first bytes and not by its name; undefined for all else. */
export async function imageType(handle: FileHandle): Promise<string | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0);
  const head = buffer.subarray(0, bytesRead).toString('latin1');
  return signatures.find(([pattern]) => pattern.test(head))?.[1];
}

const signatures: readonly (readonly [RegExp, string])[] = [
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF[\s\S]{4}WEBP/, 'image/webp'],
];
