import { posix } from 'node:path';

/** A program's name without its directory, where that is one of the system's: `/usr/bin/../bin/ls` is `ls`. */
export function plainName(name: string): string {
  if (!name.startsWith('/')) return name;
  return /^\/(?:usr\/(?:local\/)?)?s?bin\/([^/]+)$/.exec(posix.normalize(name))?.[1] ?? name;
}
