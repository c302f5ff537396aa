import { ModelError } from '../errors.js';
import { toldFailure } from '../failure.js';
import { isObject } from '../json.js';
import type { ModelEvent } from '../model.js';
import { RepeatedText } from './repeated-text.js';

/** A JSON object as a service sent it. */
export type Frame = Readonly<Record<string, unknown>>;

/** One answer as it comes in. */
export interface IncomingAnswer {
  /** Nothing is kept of a text but its event: a frame that differs from the last in its text alone need not be taken. */
  readonly forgetsText?: true;
  /** Takes a frame and tells what is new; true when the service has said its last word. */
  add(frame: Frame, events: ModelEvent[]): boolean;
  /** What is left to tell, the end last. `complete` says that the service itself called the answer finished. */
  end(how: { readonly complete: boolean }): readonly ModelEvent[];
}

/** Reads a streamed answer, frame by frame, up to the service's last word. */
export async function* decodeFrames(
  frames: AsyncIterable<readonly string[]>,
  answer: IncomingAnswer,
): AsyncGenerator<readonly ModelEvent[]> {
  let unreadable = false;
  const repeated = new RepeatedText();
  for await (const batch of frames) {
    const events: ModelEvent[] = [];
    for (const data of batch) {
      if (unreadable)
        throw new ModelError('bad_response', 'The model service sent an event that is not JSON');
      if (data === '') continue;
      const text = repeated.read(data);
      if (text !== undefined) {
        if (text !== '') events.push({ type: 'text', delta: text });
        continue;
      }
      const told = events.length;
      const frame = data === '[DONE]' ? undefined : parse(data);
      unreadable = frame === notJson;
      if (unreadable) continue;
      if (frame !== undefined && !answer.add(asFrame(frame), events)) {
        if (answer.forgetsText) repeated.learn(data, events.slice(told));
        continue;
      }
      events.push(...answer.end({ complete: true }));
      yield events;
      return;
    }
    if (events.length > 0) yield events;
  }
  // An unreadable event followed by nothing was cut off on its way.
  if (unreadable) throw new ModelError('unavailable', 'The answer ended in the middle of an event');
  yield answer.end({ complete: false });
}

/** What a service sent, if it is an object and does not say that the call failed. */
export function asFrame(value: unknown): Frame {
  if (!isObject(value)) throw new ModelError('bad_response', 'The model service sent JSON that is no object');
  if (isObject(value.error) || typeof value.error === 'string') throw toldFailure(value.error);
  if (value.object === 'error' || value.type === 'error') throw toldFailure(value);
  return value;
}

/** Something came in a shape that nobody promised. */
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
    return JSON.parse(data);
  } catch {
    return notJson;
  }
}
