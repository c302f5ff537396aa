import assert from 'node:assert/strict';
import { join } from 'node:path';
import { approveAll, Client, defineTool, type SessionOptions } from '@groundcrew/sdk';
import { callTools, replay, say, scriptedModel, temporaryWorkplace } from '@groundcrew/testing';

// The app: an agent that looks orders up.
const lookUp = defineTool('look_up', {
  description: 'Says where an order is',
  parameters: { type: 'object', properties: { order: { type: 'string' } }, required: ['order'] },
  handler: ({ order }) => `${order} is on its way`,
});
const agent: SessionOptions = { tools: [lookUp], onPermissionRequest: approveAll };

// A test of it: a home of its own, no key, no network; the model says what the script says.
using workplace = temporaryWorkplace();
await using client = new Client(workplace.clientOptions);
await using model = await scriptedModel(
  callTools({ name: 'look_up', arguments: { order: 'A-17' } }),
  ({ messages }) => say(`I looked: ${messages.at(-1)?.text}.`),
);
await using session = await client.createSession({ ...agent, ...model.settings });
const answer = await session.sendAndWait('Where is my order A-17?');
console.log(answer?.data.content);
assert.equal(answer?.data.content, 'I looked: A-17 is on its way.');
model.verify();

// The same with a recording: a request that differs from the recorded one is refused, with a diff.
await using cassette = await replay({
  ...workplace.cassetteOptions,
  file: join(import.meta.dirname, 'orders.yaml'),
  // The runtime's own texts change with its versions, and do not matter to this app.
  ignore: ['system', 'tools', 'settings'],
});
const { baseUrl } = cassette;
await using recorded = await client.createSession({ ...agent, model: 'gpt-5', provider: { baseUrl } });
const again = await recorded.sendAndWait('Where is my order A-17?');
console.log(again?.data.content);
assert.equal(again?.data.content, 'Your order A-17 is on its way.');
cassette.verify();
