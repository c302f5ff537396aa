import type { Answer, Question } from '../conversation.js';
import type { Json } from '../json.js';

/** The families of model APIs that are understood. */
export type WireName = 'openai-chat' | 'openai-responses' | 'anthropic-messages';

/** What the writer of an answer knows of the call. */
export interface AskedFor {
  readonly model: string;
  /** Makes the ids of answers differ. */
  readonly number: number;
  readonly body: Json;
}

/** A family of model APIs, read and written: what is written reads as the same again. */
export interface Wire {
  /** What a request asks. */
  readQuestion(body: Json): Question;
  /** An answer that came in one piece. */
  readWhole(body: Json): Answer;
  /** An answer by its events; one without an end is `unfinished`. */
  readStream(frames: readonly Json[]): Answer;
  writeWhole(answer: Answer, asked: AskedFor): Json;
  /** The answer as server-sent events, one piece each. */
  writeStream(answer: Answer, asked: AskedFor): readonly string[];
  /** A failure in the shape of this API. */
  writeFailure(message: string, code: string): Json;
}
