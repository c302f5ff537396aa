import assert from 'node:assert/strict';
import { approveAll, Client, defineTool } from '@groundcrew/sdk';
import * as z from 'zod';

// The model sees the schema; the handler gets arguments that fit it, and a signal for when no caller waits any more.
const orderStatus = defineTool('order_status', {
  description: 'Looks up where an order is',
  parameters: z.object({ order: z.string().describe('The number of the order') }),
  handler: async ({ order }, { toolCallId }, signal) => {
    signal.throwIfAborted();
    console.log(`looking up ${order} for call ${toolCallId}`);
    return { order, status: 'on its way' };
  },
});

await using client = new Client();
await using session = await client.createSession({
  tools: [orderStatus],
  // Nothing runs without approval. An app would ask its user here.
  onPermissionRequest: approveAll,
});

const asked: string[] = [];
session.on('permission.completed', ({ data }) => asked.push(data.result.kind));

const answer = await session.sendAndWait(
  "Use the tool order_status with order 'A-17', then reply with the result",
);
console.log(answer?.data.content);
assert.match(answer?.data.content ?? '', /on its way/);
assert.deepEqual(asked, ['approved']);
