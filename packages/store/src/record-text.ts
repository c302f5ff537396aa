/// <reference lib="es2024.string" />
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { LogRecord } from './session-store.js';

/**
 * Text as a column keeps it. SQLite cuts text at a NUL when it is read, PostgreSQL refuses it, and UTF-8 has no lone
 * surrogates: a text with either is kept as UTF-16 bytes; every other text is kept as it stands.
 */
export function toColumn(text: string): string | Uint8Array {
  const isPlain = text.isWellFormed() && !text.includes('\0');
  return isPlain ? text : Buffer.from(text, 'utf16le');
}

/** The text that `toColumn` was given. */
export function fromColumn(value: string | Uint8Array): string {
  if (typeof value === 'string') return value;
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf16le');
}

/** The name of a body that is kept out of line. */
export function hashOf(body: string | Uint8Array): Uint8Array {
  const encoding = typeof body === 'string' ? 'utf8' : 'utf16';
  return createHash('sha256').update(encoding).update(body).digest();
}

/** What a record is checked against when it is read; the same in every store, so that copies can be compared. */
export function checksumOf({ seq, isPublic, type, json }: LogRecord): number {
  return crc32(json, crc32(`${seq} ${isPublic} ${type}`));
}
