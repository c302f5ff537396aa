import { ModelError } from '../../errors.js';
import { toldFailure } from '../../failure.js';
import { isObject } from '../../json.js';
import type { ModelEvent } from '../../model.js';
import { ChatAnswer } from './answer.js';

/** A streamed chat completion. One event for each piece the service sent; whole calls and the end come last. */
export async function* decodeChat(
  frames: AsyncIterable<readonly string[]>,
  newId: () => string,
): AsyncGenerator<readonly ModelEvent[]> {
  const answer = new ChatAnswer(newId);
  let unreadable = false;
  for await (const batch of frames) {
    const events: ModelEvent[] = [];
    for (const data of batch) {
      if (unreadable)
        throw new ModelError('bad_response', 'The model service sent an event that is not JSON');
      if (data === '') continue;
      if (data === '[DONE]') {
        events.push(...answer.end({ complete: true }));
        yield events;
        return;
      }
      const chunk = parse(data);
      if (chunk === undefined) unreadable = true;
      else answer.add(asObject(chunk), events);
    }
    if (events.length > 0) yield events;
  }
  // An unreadable event followed by nothing was cut off on its way.
  if (unreadable) throw new ModelError('unavailable', 'The answer ended in the middle of an event');
  yield answer.end({ complete: false });
}

/** A chat completion that came in one piece. */
export function decodeWholeChat(body: unknown, newId: () => string): readonly ModelEvent[] {
  const whole = asObject(body);
  const answer = new ChatAnswer(newId);
  const events: ModelEvent[] = [];
  answer.add(whole, events);
  if (!Array.isArray(whole.choices)) throw new ModelError('bad_response', 'The answer has no choices');
  return [...events, ...answer.end({ complete: true })];
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}

function asObject(chunk: unknown): Record<string, unknown> {
  if (!isObject(chunk)) throw new ModelError('bad_response', 'The model service sent JSON that is no object');
  if (isObject(chunk.error) || typeof chunk.error === 'string') throw toldFailure(chunk.error);
  if (chunk.object === 'error') throw toldFailure(chunk);
  return chunk;
}
