// An agent of the app's own, asked by the main agent; what it does can be followed, bounded and stopped.
import assert from 'node:assert/strict';
import { Client, defineAgent } from '@groundcrew/sdk';
import { callTools, say, scriptedModel, temporaryWorkplace } from '@groundcrew/testing';

const reviewer = defineAgent('reviewer', {
  displayName: 'Reviewer',
  description: 'Reviews changes; changes nothing',
  prompt: 'You review changes. Report what would do harm, and nothing else.',
  tools: ['view', 'grep', 'glob'],
  limits: { maxCalls: 20, maxSeconds: 300 },
});

using workplace = temporaryWorkplace();
await using client = new Client(workplace.clientOptions);
// The main agent asks the reviewer, the reviewer answers, the main agent sums up.
await using model = await scriptedModel(
  callTools({
    name: 'task',
    arguments: {
      name: 'first look',
      agent_type: 'reviewer',
      description: 'Looks at the change',
      prompt: 'Review the change to the parser.',
      mode: 'sync',
    },
  }),
  say('The parser now loses the last line.'),
  ({ messages }) => say(`The reviewer says: ${messages.at(-1)?.text}`),
);
await using session = await client.createSession({
  ...model.settings,
  customAgents: [reviewer],
  subagents: { maxConcurrency: 4, treeLimits: { maxCalls: 100 } },
});

const answer = await session.sendAndWait('Have the change to the parser reviewed');
console.log(answer?.data.content);
assert.equal(answer?.data.content, 'The reviewer says: The parser now loses the last line.');

for (const task of await session.tasks.list()) {
  console.log(`${task.displayName}: ${task.status}, ${task.totalTokens} tokens`);
  assert.equal(task.status, 'completed');
  // Its own events, from the first on.
  const types: string[] = [];
  for await (const { type } of session.tasks.events(task.id)) types.push(type);
  assert.deepEqual([types[0], types.at(-1)], ['subagent.started', 'subagent.completed']);
}

// The same agent can lead the session.
const { name } = await session.agents.select('reviewer');
assert.equal((await session.agents.current())?.name, name);
model.verify();
