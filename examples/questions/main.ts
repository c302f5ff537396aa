import assert from 'node:assert/strict';
import { approveAll, Client } from '@groundcrew/sdk';

const deployed: string[] = [];

await using client = new Client();
await using session = await client.createSession({
  onPermissionRequest: approveAll,
  // The agent asks, and waits for the answer as long as it takes.
  onUserInputRequest: ({ question, choices }) => {
    console.log(question);
    return { answer: choices[0] ?? 'blue', wasFreeform: choices.length === 0 };
  },
  // Forms of apps and of MCP servers. What does not fit the form is refused.
  onElicitationRequest: ({ message }) => {
    console.log(message);
    return { action: 'accept', content: { name: 'Ada' } };
  },
  // Slash commands of the app, for users of every client.
  commands: [
    { name: 'deploy', description: 'Deploys the app', handler: ({ args }) => void deployed.push(args) },
  ],
});

const asked = await session.sendAndWait(
  "Use the tool ask_user with question 'Which colour?', then reply with the result",
);
console.log(asked?.data.content);
assert.match(asked?.data.content ?? '', /blue/);

const form = await session.call('session.ui.elicitation', {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string', minLength: 1 }, newsletter: { type: 'boolean', default: false } },
    required: ['name'],
  },
});
assert.deepEqual(form, { action: 'accept', content: { name: 'Ada', newsletter: false } });

await session.call('session.commands.execute', { commandName: 'deploy', args: 'production' });
assert.deepEqual(deployed, ['production']);

// In plan mode the gate lets nothing change but the plan, whatever is approved.
await session.call('session.mode.set', { mode: 'plan' });
const refused: (string | undefined)[] = [];
session.on('tool.execution_complete', ({ data }) => void refused.push(data.error?.message));
await session.sendAndWait(
  "Use the tool create with path 'made.txt' and file_text 'x', then reply with the result",
);
assert.deepEqual(refused, ['Plan mode allows no changes but to the plan.']);
