import type { BodyMemory } from './body-memory.js';
import type { ModelEvent, ModelRequest } from './model.js';

/** The tongue of a family of model services: requests in, events out. It knows no address and no secret. */
export interface Wire {
  /** The JSON body of a call. What two calls of a conversation share is the same, byte by byte, and comes first. */
  encode(request: ModelRequest, memory?: BodyMemory): object;
  /**
   * A streamed answer: the data of server-sent events in, in batches of one socket read each.
   * Throws a ModelError for an answer that is broken, cut off, or says that it failed.
   */
  decode(frames: AsyncIterable<readonly string[]>): AsyncIterable<readonly ModelEvent[]>;
  /** An answer that came in one piece. */
  decodeWhole(body: unknown): readonly ModelEvent[];
}

/** What every wire is given. */
export interface WireOptions {
  /** Ids for tool calls that came without one, or with one that was taken. */
  readonly newId?: () => string;
}
