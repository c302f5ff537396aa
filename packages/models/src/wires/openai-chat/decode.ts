import { ModelError } from '../../errors.js';
import type { ModelEvent } from '../../model.js';
import { asFrame } from '../frames.js';
import { ChatAnswer, type ChatAnswerOptions } from './answer.js';

/** A chat completion that came in one piece. */
export function decodeWholeChat(body: unknown, options: ChatAnswerOptions): readonly ModelEvent[] {
  const whole = asFrame(body);
  const answer = new ChatAnswer(options);
  const events: ModelEvent[] = [];
  answer.add(whole, events);
  if (!Array.isArray(whole.choices)) throw new ModelError('bad_response', 'The answer has no choices');
  return [...events, ...answer.end({ complete: true })];
}
