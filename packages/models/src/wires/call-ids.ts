/** The ids of one answer's calls: as the service gave them, or our own where it gave none or the same one twice. */
export class CallIds {
  readonly #newId: () => string;
  readonly #taken = new Set<string>();

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  take(given: string | undefined): string {
    const id = given === undefined || this.#taken.has(given) ? this.#newId() : given;
    this.#taken.add(id);
    return id;
  }
}

/**
 * An id as a service takes it. One that does not fit came from another service; it becomes one that does,
 * always the same one, and no other's.
 */
export function fittingId(id: string, longest: number): string {
  if (id.length <= longest && plain.test(id)) return id;
  const mark = fingerprint(id);
  return `${id.replace(odd, '_').slice(0, longest - mark.length - 1)}_${mark}`;
}

/** A tool's name as every service takes it. One that does not fit was made up by a model, and names no tool. */
export function fittingName(name: string): string {
  if (name.length <= longestName && plain.test(name)) return name;
  return name.replace(odd, '_').slice(0, longestName) || '_';
}

const plain = /^[A-Za-z0-9_-]+$/;
const odd = /[^A-Za-z0-9_-]+/g;
const longestName = 64;

/** FNV-1a: short, quick, and far enough apart for the calls of one conversation. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}
