/** A program's own name, without the directory where the system keeps its programs. */
export function plainName(name: string): string {
  return /^\/(?:usr\/)?s?bin\/([^/]+)$/.exec(name)?.[1] ?? name;
}
