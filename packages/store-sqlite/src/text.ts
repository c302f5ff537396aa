/// <reference lib="es2024.string" />

/**
 * Text as a column keeps it. SQLite cuts text at a NUL when it is read and UTF-8 has no lone surrogates, so a text with
 * either is kept as UTF-16 bytes; every other text is kept as it stands.
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
