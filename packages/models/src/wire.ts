import type { ModelEvent, ModelRequest } from './model.js';

/** The tongue of a family of model services: requests in, events out. It knows no address and no secret. */
export interface Wire {
  /** The JSON body of a call. What two calls of a conversation share is the same, byte by byte, and comes first. */
  encode(request: ModelRequest): object;
  /** What reads a streamed answer. */
  decode(): AnswerDecoder;
  /** An answer that came in one piece. */
  decodeWhole(body: unknown): readonly ModelEvent[];
}

/** One streamed answer: the data of server-sent events in, events out. */
export interface AnswerDecoder {
  /** The service has said its last word; what may come after it is not read. */
  readonly isOver: boolean;
  /** Takes what one read brought. Throws a ModelError for an answer that is broken, or says that it failed. */
  take(frames: readonly string[]): readonly ModelEvent[];
  /** What is left to emit when no more comes. Throws a ModelError for an answer that was cut off. */
  end(): readonly ModelEvent[];
}

/** What every wire is given. */
export interface WireOptions {
  /** Ids for tool calls that came without one, or with one that was taken. */
  readonly newId?: () => string;
}
