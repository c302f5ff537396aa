import { longestMessage, tooLong } from './message-limits.js';

/** An answer whose messages end in time: one that is longer than any message may be breaks off, and `fault` gets why. */
export function boundedResponse(response: Response, fault: (reason: string) => void): Response {
  const { body, status, statusText, headers } = response;
  if (!body) return response;
  const isStream = headers.get('content-type')?.includes('text/event-stream') ?? false;
  let size = 0;
  let isAtLineStart = true;
  const count = (chunk: Uint8Array) => {
    if (!isStream) {
      size += chunk.length;
      return;
    }
    // A blank line ends an event.
    let start = 0;
    for (let at = chunk.indexOf(lineFeed); at >= 0; at = chunk.indexOf(lineFeed, start)) {
      const line = at - start - (chunk[at - 1] === carriageReturn && at > start ? 1 : 0);
      size = isAtLineStart && line === 0 ? 0 : size + line + 1;
      isAtLineStart = true;
      start = at + 1;
    }
    const rest = chunk.length - start;
    size += rest;
    if (rest > 0) isAtLineStart = rest === 1 && chunk[start] === carriageReturn && isAtLineStart;
  };
  const bounds = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      count(chunk);
      if (size <= longestMessage) return controller.enqueue(chunk);
      fault(tooLong);
      controller.error(new Error(tooLong));
    },
  });
  return new Response(body.pipeThrough(bounds), { status, statusText, headers });
}

const lineFeed = 10;
const carriageReturn = 13;
