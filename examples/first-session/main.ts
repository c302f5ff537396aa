import assert from 'node:assert/strict';
import { Client } from '@groundcrew/sdk';

// Starts a runtime of its own. Without a key or an account, its small offline model answers.
await using client = new Client();
await using session = await client.createSession();

const first = await session.sendAndWait('What is 1+1?');
console.log(first?.data.content);
assert.match(first?.data.content ?? '', /\b2\b/);

// A session remembers.
const second = await session.sendAndWait('Now if you double that, what do you get?');
console.log(second?.data.content);
assert.match(second?.data.content ?? '', /\b4\b/);
