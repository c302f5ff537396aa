import assert from 'node:assert/strict';
import { Client } from '@groundcrew/sdk';

await using client = new Client();
await using session = await client.createSession({ streaming: true });

// Listening starts here, before the prompt is sent: nothing is missed.
const events = session.events();
await session.send('Reply with exactly: The quick brown fox jumps over the lazy dog');

let streamed = '';
let whole = '';
for await (const event of events) {
  if (event.type === 'assistant.message_delta') {
    process.stdout.write(event.data.deltaContent);
    streamed += event.data.deltaContent;
  }
  if (event.type === 'assistant.message') whole = event.data.content;
  if (event.type === 'session.idle') break;
}
process.stdout.write('\n');

assert.equal(whole, 'The quick brown fox jumps over the lazy dog');
assert.equal(streamed, whole);
