/** An answer that the program can use as it is: a typed value, checked against a schema. */
import assert from 'node:assert/strict';
import { Client } from '@groundcrew/sdk';
import * as z from 'zod';

const Order = z.object({
  item: z.string(),
  amount: z.int().min(1),
  urgency: z.enum(['low', 'normal', 'high']),
});

await using client = new Client();
await using session = await client.createSession();

const order = await session.sendAndWait({
  prompt: "Please order 12 of the item 'paper clips', with high urgency",
  output: Order,
});

console.log(`${order.amount} × ${order.item}, ${order.urgency}`);
assert.deepEqual(order, { item: 'paper clips', amount: 12, urgency: 'high' });
