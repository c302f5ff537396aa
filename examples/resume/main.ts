import assert from 'node:assert/strict';
import { Client, defineTool } from '@groundcrew/sdk';

// One app asks and goes away, its runtime with it.
const morning = new Client();
const session = await morning.createSession();
await session.sendAndWait('What is 20+1?');
await morning.stop();

// Another one, any time later, finds the session and goes on where it stood.
const evening = new Client();
const found = await evening.getSessionMetadata(session.sessionId);
assert.equal(found?.summary, 'What is 20+1?');

const resumed = await evening.resumeSession(session.sessionId);
const answer = await resumed.sendAndWait('Now if you double that, what do you get?');
console.log(answer?.data.content);
assert.match(answer?.data.content ?? '', /\b42\b/);

const prompts = (await resumed.getEvents()).filter((event) => event.type === 'user.message');
assert.deepEqual(
  prompts.map((event) => event.data.content),
  ['What is 20+1?', 'Now if you double that, what do you get?'],
);
await resumed.disconnect();

// It is killed, its runtime with it, in the middle of a tool call.
const working = await evening.resumeSession(session.sessionId, {
  tools: [defineTool('weigh', { skipPermission: true, handler: () => evening.forceStop() })],
});
await assert.rejects(working.sendAndWait("Use the tool weigh with item 'crate', then reply with the result"));

// The next one brings the tool again: the call that waits is put to its handler, and the turn is finished.
await using night = new Client();
await using continued = await night.resumeSession(session.sessionId, {
  tools: [defineTool('weigh', { skipPermission: true, handler: () => '17 kg' })],
  continuePendingWork: true,
});
for await (const event of continued) {
  if (event.type === 'assistant.message') console.log(event.data.content);
  if (event.type === 'session.idle') break;
}
const last = (await continued.getEvents()).findLast((event) => event.type === 'assistant.message');
assert.match(last?.data.content ?? '', /17 kg/);
