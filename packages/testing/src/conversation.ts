import type { Json } from './json.js';

/** A tool call as the model wrote it. */
export interface Call {
  readonly id: string;
  readonly name: string;
  /** Letter by letter; not always valid JSON. */
  readonly argumentsText: string;
}

/** One message of a request, in no API's own words. */
export type Message =
  | { readonly role: 'system'; readonly text: string }
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly Call[] }
  | { readonly role: 'tool'; readonly callId: string; readonly text: string; readonly isError?: true }
  /** What only one API knows, as it came. */
  | { readonly role: 'other'; readonly text: string };

/** What a request asks, whichever API it is for. */
export interface Question {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly tools: readonly Json[];
  /** All other fields of the request, except whether to stream. */
  readonly settings: Json;
}

/** A piece of an answer, in the order the model gave them; texts are in the pieces they were streamed in. */
export type AnswerPart =
  | { readonly type: 'text'; readonly pieces: readonly string[]; readonly phase?: string }
  | { readonly type: 'refusal'; readonly pieces: readonly string[] }
  | {
      readonly type: 'thought';
      readonly pieces: readonly string[];
      /** The field it came in, where the API has several. */
      readonly field?: string;
      /** What the service wants back, unread. */
      readonly seal?: string;
    }
  | { readonly type: 'call'; readonly call: Call }
  /** What only one API knows, as it came. */
  | { readonly type: 'other'; readonly content: Json };

/** How an answer ended: as it should, by a failure it reported, without a word, by a lost connection, or because the caller left. */
export type Ending = 'complete' | 'failed' | 'unfinished' | 'broken' | 'abandoned';

/** What a model said in one call. */
export interface Answer {
  readonly parts: readonly AnswerPart[];
  readonly ending: Ending;
  /** Why the model stopped, in its API's word, and what else it says of that. */
  readonly finish?: string;
  readonly details?: Json;
  /** As the service counted. */
  readonly usage?: Json;
  /** The name the service gave its model. */
  readonly model?: string;
  /** The failure as it was reported, when it ended in one. */
  readonly error?: Json;
}

/** The message an answer becomes in the next request. */
export function messageOf({ parts }: Pick<Answer, 'parts'>): Message {
  const text = parts.flatMap((part) => (part.type === 'text' || part.type === 'refusal' ? part.pieces : []));
  const calls = parts.flatMap((part) => (part.type === 'call' ? [part.call] : []));
  return { role: 'assistant', text: text.join(''), calls };
}
