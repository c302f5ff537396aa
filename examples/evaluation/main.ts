import assert from 'node:assert/strict';
import { join } from 'node:path';
import { approveAll, Client, defineTool } from '@groundcrew/sdk';
import { contains, evaluate, temporaryWorkplace, usedTool } from '@groundcrew/testing';

// The app: an agent that looks orders up, with and without the tool it needs.
const orderStatus = defineTool('order_status', {
  description: 'Looks up where an order is',
  parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  handler: ({ order }) => `order ${order} is on its way`,
});

using workplace = temporaryWorkplace();
await using client = new Client(workplace.clientOptions); // the offline model; name a provider to evaluate a real one

// A dataset of prompts with checks, tried with two variants of the agent.
const evaluation = await evaluate({
  client,
  dataset: [
    {
      name: 'an order is looked up',
      prompt: "Use the tool order_status with order 'A-17', then reply with the result",
      checks: [contains('on its way'), usedTool('order_status', { order: 'A-17' })],
    },
    { name: 'a sum needs no tool', prompt: 'What is 1+1?', checks: [contains('2')] },
  ],
  variants: {
    'with the tool': { tools: [orderStatus], onPermissionRequest: approveAll },
    'without it': {},
  },
});

console.log(evaluation.table());
assert.deepEqual(
  evaluation.cases.map(({ passed }) => passed),
  [true, false, true, true],
);
await evaluation.writePage(join(workplace.workingDirectory, 'evaluation.html')); // the answers side by side
