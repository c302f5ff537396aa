/** A path that a call would touch. */
export interface TouchedPath {
  /** As the request says it. */
  readonly written: string;
  /** Whole, as named and with every link followed; none where only a run would show. */
  readonly names: readonly string[];
}
