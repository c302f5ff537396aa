import { StringDecoder } from 'node:string_decoder';
import { createParser } from 'eventsource-parser';
import { ModelError } from './errors.js';

const maxFrameLength = 32 * 1024 * 1024;

/** The data of server-sent events, in batches: all that one read of the socket completed. */
export async function* sseFrames(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new StringDecoder('utf8');
  let batch: string[] = [];
  const parser = createParser({
    maxBufferSize: maxFrameLength,
    onEvent: (event) => {
      batch.push(event.data);
    },
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded')
        throw new ModelError('bad_response', 'The model service sent an event larger than 32 MB');
    },
  });
  let begun = false;
  for await (const chunk of bytes) {
    const text = decoder.write(chunk);
    parser.feed(begun ? text : withoutMark(text));
    begun ||= text !== '';
    if (batch.length === 0) continue;
    yield batch;
    batch = [];
  }
  // Some services leave out the blank line after their last event.
  parser.feed(`${decoder.end()}\n\n`);
  if (batch.length > 0) yield batch;
}

function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}
