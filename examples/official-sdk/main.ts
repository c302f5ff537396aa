import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { approveAll, CopilotClient, defineTool, RuntimeConnection } from '@github/copilot-sdk';
import * as z from 'zod';

// The official client needs one thing changed: the program it starts.
const path = fileURLToPath(import.meta.resolve('groundcrew/bin/groundcrew.js'));
const client = new CopilotClient({ connection: RuntimeConnection.forStdio({ path }) });

const session = await client.createSession({
  tools: [
    defineTool('order_status', {
      description: 'Looks up where an order is',
      parameters: z.object({ order: z.string() }),
      handler: ({ order }) => `${order} is on its way`,
    }),
  ],
  onPermissionRequest: approveAll,
});

const answer = await session.sendAndWait({
  prompt: "Use the tool order_status with order 'A-17', then reply with the result",
});
console.log(answer?.data.content);
assert.match(answer?.data.content ?? '', /A-17 is on its way/);

await session.disconnect();
assert.deepEqual(await client.stop(), []);
