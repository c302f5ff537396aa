import { posix } from 'node:path';

/** A program's own name, without the directory where the system keeps its programs, however that is written. */
export function plainName(name: string): string {
  if (!name.startsWith('/')) return name;
  return /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/.exec(posix.normalize(name))?.[1] ?? name;
}
