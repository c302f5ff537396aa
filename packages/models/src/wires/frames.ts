import { ModelError } from '../errors.js';
import { failureInAnswer } from '../failure.js';
import { isObject, parseReceived } from '../json.js';
import type { ModelEvent } from '../model.js';
import type { AnswerDecoder } from '../wire.js';

/** A JSON object as a service sent it. */
export type Frame = Readonly<Record<string, unknown>>;

/** One answer as it comes in. */
export interface IncomingAnswer {
  /** Adds the events of a frame to the list; true when the frame was the last one. */
  add(frame: Frame, events: ModelEvent[]): boolean;
  /** The remaining events, the end last. `complete`: the service marked the answer as finished. */
  end(how: { readonly complete: boolean }): readonly ModelEvent[];
}

/** Reads a streamed answer, frame by frame, up to the service's last word. */
export class FrameDecoder implements AnswerDecoder {
  isOver = false;
  readonly #answer: IncomingAnswer;
  #isUnreadable = false;

  constructor(answer: IncomingAnswer) {
    this.#answer = answer;
  }

  take(frames: readonly string[]): readonly ModelEvent[] {
    const events: ModelEvent[] = [];
    for (const data of frames) {
      if (this.isOver) break;
      if (this.#isUnreadable)
        throw new ModelError('bad_response', 'The model service sent an event that is not JSON');
      if (data !== '') this.#add(data, events);
    }
    return events;
  }

  end(): readonly ModelEvent[] {
    // An unreadable event followed by nothing was cut off on its way.
    if (this.#isUnreadable) throw new ModelError('unavailable', 'The answer ended in the middle of an event');
    return this.isOver ? [] : this.#answer.end({ complete: false });
  }

  #add(data: string, events: ModelEvent[]): void {
    const frame = data === '[DONE]' ? undefined : parse(data);
    this.#isUnreadable = frame === notJson;
    if (this.#isUnreadable) return;
    this.isOver = frame === undefined || this.#answer.add(asFrame(frame), events);
    if (this.isOver) events.push(...this.#answer.end({ complete: true }));
  }
}

/** What a service sent, if it is an object and does not say that the call failed. */
export function asFrame(value: unknown): Frame {
  if (!isObject(value)) throw new ModelError('bad_response', 'The model service sent JSON that is no object');
  if (isObject(value.error) || typeof value.error === 'string') throw failureInAnswer(value.error);
  if (value.object === 'error' || value.type === 'error') throw failureInAnswer(value);
  return value;
}

/** A frame has an unknown shape. */
export function wrongShape(what: string): ModelError {
  return new ModelError(
    'bad_response',
    `The model service sent ${what} in a shape this version does not know`,
  );
}

/** The list, or an empty one for nothing at all. */
export function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongShape(what);
  return value;
}

const notJson = Symbol('not JSON');

function parse(data: string): unknown {
  try {
    return parseReceived(data);
  } catch {
    return notJson;
  }
}
