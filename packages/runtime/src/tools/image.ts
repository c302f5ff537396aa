import type { FileHandle } from 'node:fs/promises';

/** What model services still take. */
export const largestImageBytes = 10 * 1024 * 1024;

/** The kind of image a file holds, by its first bytes and not by its name; undefined for all else. */
export async function imageType(handle: FileHandle): Promise<string | undefined> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0);
  const head = buffer.subarray(0, bytesRead).toString('latin1');
  if (head.startsWith('RIFF') && head.slice(8, 12) === 'WEBP') return 'image/webp';
  return signatures.find(([signature]) => head.startsWith(signature))?.[1];
}

const signatures: readonly (readonly [string, string])[] = [
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
];
