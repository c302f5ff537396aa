import assert from 'node:assert/strict';
import { Client } from '@groundcrew/sdk';

// One app asks and goes away, its runtime with it.
const morning = new Client();
const session = await morning.createSession();
await session.sendAndWait('What is 20+1?');
await morning.stop();

// Another one, any time later, finds the session and goes on where it stood.
await using evening = new Client();
const found = await evening.getSessionMetadata(session.sessionId);
assert.equal(found?.summary, 'What is 20+1?');

await using resumed = await evening.resumeSession(session.sessionId);
const answer = await resumed.sendAndWait('Now if you double that, what do you get?');
console.log(answer?.data.content);
assert.match(answer?.data.content ?? '', /\b42\b/);

const prompts = (await resumed.getEvents()).filter((event) => event.type === 'user.message');
assert.deepEqual(
  prompts.map((event) => event.data.content),
  ['What is 20+1?', 'Now if you double that, what do you get?'],
);
