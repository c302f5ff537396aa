/**
 * Does the work while no other process does work under the same lock file, whose directory is there; waits for a while,
 * then rejects. The lock is dropped however the process ends. Given from outside: the engine knows no locks.
 */
export type WithFileLock = <T>(file: string, work: () => T) => Promise<T>;
