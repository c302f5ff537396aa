/** What the SDK takes from Node, by the means of a browser. */

/** A random id; pages that did not come over HTTPS have no `crypto.randomUUID`. */
export function randomUUID(): string {
  const { crypto } = globalThis;
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Browsers count no listeners. */
export function setMaxListeners(): void {
  // There is nothing to raise.
}

/** Resolves after a while, or rejects with the signal's reason. */
function delay(milliseconds: number, _: undefined, { signal }: { signal: AbortSignal }): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = globalThis.setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

export { delay as setTimeout };
