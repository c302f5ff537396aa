import type { ModelEvent, ModelRequest } from './model.js';

/** The tongue of a family of model services: requests in, events out. It knows no address and no secret. */
export interface Wire {
  /** Where calls go, below the service's base address. */
  readonly path: string;
  /** The JSON body of a call. */
  encode(request: ModelRequest): unknown;
  /**
   * A streamed answer: the data of server-sent events in, in batches of one socket read each.
   * Throws a ModelError for an answer that is broken, cut off, or says that it failed.
   */
  decode(frames: AsyncIterable<readonly string[]>): AsyncIterable<readonly ModelEvent[]>;
  /** An answer that came in one piece. */
  decodeWhole(body: unknown): readonly ModelEvent[];
}
