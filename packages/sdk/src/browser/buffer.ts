/** The one thing the wire asks of Node's buffers. */
export const Buffer = { byteLength: (text: string): number => new TextEncoder().encode(text).length };
