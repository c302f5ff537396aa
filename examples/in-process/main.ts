import assert from 'node:assert/strict';
import { Client, RuntimeConnection } from '@groundcrew/sdk';

// The whole runtime in this process: no child, no socket, the same sessions on disk.
await using client = new Client({ connection: RuntimeConnection.forInProcess() });
await using session = await client.createSession();

const answer = await session.sendAndWait('What is 100+200?');
console.log(answer?.data.content);
assert.match(answer?.data.content ?? '', /\b300\b/);
