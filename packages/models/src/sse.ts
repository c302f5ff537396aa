import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { ModelError } from './errors.js';

const maxFrameLength = 4 * 1024 * 1024;

/** Finds server-sent events in bytes as they come. */
export class SseReader {
  readonly #decoder = new StringDecoder('utf8');
  #hasBegun = false;
  #batch: string[] = [];
  readonly #parser = createParser({
    maxBufferSize: maxFrameLength,
    onEvent: (event) => {
      this.#batch.push(event.data);
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded')
        throw new ModelError('bad_response', 'The model service sent an event larger than 4 MB');
    },
  });

  /** The data of all events that these bytes complete. */
  push(bytes: Uint8Array): readonly string[] {
    const text = this.#decoder.write(bytes);
    this.#parser.feed(this.#hasBegun ? text : withoutMark(text));
    this.#hasBegun ||= text !== '';
    return this.#taken();
  }

  /** What is left when no more comes: some services leave out the blank line after their last event. */
  end(): readonly string[] {
    this.#parser.feed(`${this.#decoder.end()}\n\n`);
    return this.#taken();
  }

  #taken(): readonly string[] {
    const batch = this.#batch;
    this.#batch = [];
    return batch;
  }
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
