/** An id becomes a directory name: nothing that could lead elsewhere. */
export function isSafeId(sessionId: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(sessionId) && !sessionId.includes('..');
}
