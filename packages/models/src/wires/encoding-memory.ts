import { sharedLength } from '../body-writer.js';

/**
 * Remembers what a wire made of the parts of one conversation, so that the next call is made of the same objects. A part is
 * known by the object it was made of, for as long as that object lives.
 */
export class EncodingMemory {
  private readonly made = new Map<string, WeakMap<object, object>>();
  private readonly named = new Map<string, { readonly text: string; readonly part: object }>();
  private readonly readings = new Map<string, Reading>();

  /** What `make` made of `source` the first time. Each wire reads in ways of its own, each with a name. */
  once<S extends object, R extends object>(source: S, make: (source: S) => R, way: string): R {
    const known = this.wayNamed(way);
    const before = known.get(source);
    // Each way has one `make`, so what it made is of its type.
    if (before) return before as R;
    const made = make(source);
    known.set(source, made);
    return made;
  }

  /** What `make` made of each; a list that goes on where the last one of its way ended is looked through from there. */
  each<S extends object, R extends object>(sources: readonly S[], make: (source: S) => R, way: string): R[] {
    const before = this.readings.get(way);
    // Each way has one `make`, so what it made is of its type.
    const known = before && goesOn(sources, before.sources) ? (before.made as readonly R[]) : [];
    const made = [...known];
    for (const source of sources.slice(known.length)) made.push(this.once(source, make, way));
    this.readings.set(way, { sources, made });
    return made;
  }

  /**
   * What `join` makes of all, one after the other: it adds to what is made, or puts another in the place of the last. A list
   * that goes on where the last one of its way ended is joined from there.
   */
  folded<S extends object, R extends object>(
    sources: readonly S[],
    join: (made: R[], source: S) => void,
    way: string,
  ): R[] {
    const before = this.readings.get(way);
    const isKnown = before !== undefined && goesOn(sources, before.sources);
    // Each way has one `join`, so what it made is of its type.
    const made = isKnown ? [...(before.made as readonly R[])] : [];
    for (const source of sources.slice(isKnown ? before.sources.length : 0)) join(made, source);
    this.readings.set(way, { sources, made });
    return made;
  }

  /** What `make` made of the same text the last time, in the way of that name. */
  onceOf<R extends object>(text: string, make: (text: string) => R, way: string): R {
    const before = this.named.get(way);
    // Each way has one `make`, so what it made is of its type.
    if (before?.text === text) return before.part as R;
    const part = make(text);
    this.named.set(way, { text, part });
    return part;
  }

  private wayNamed(way: string): WeakMap<object, object> {
    const known = this.made.get(way);
    if (known) return known;
    const fresh = new WeakMap<object, object>();
    this.made.set(way, fresh);
    return fresh;
  }
}

interface Reading {
  readonly sources: readonly object[];
  readonly made: readonly object[];
}

function goesOn(items: readonly unknown[], before: readonly unknown[]): boolean {
  return sharedLength(items, before) === before.length;
}
