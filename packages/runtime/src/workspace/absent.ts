/** Catches that a file or directory is not there; every other error is thrown on. */
export function absent(error: NodeJS.ErrnoException): undefined {
  if (isAbsent(error)) return undefined;
  throw error;
}

/** A file or directory is not there. */
export function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
