import assert from 'node:assert/strict';
import { approveAll, Client, defineTool } from '@groundcrew/sdk';

const paid: string[] = [];
const pay = defineTool('pay', {
  description: 'Pays an invoice',
  parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  handler: ({ to }) => {
    paid.push(to);
    return `paid ${to}`;
  },
});

await using client = new Client();
await using session = await client.createSession({
  tools: [pay],
  onPermissionRequest: approveAll,
  hooks: {
    // Asked before every tool call of any agent. A hook that throws or hangs denies.
    onPreToolUse: ({ toolName, toolArgs }) => {
      const { to } = toolArgs as { to?: string };
      if (toolName !== 'pay' || to !== 'Mallory') return undefined;
      return { permissionDecision: 'deny', permissionDecisionReason: 'Mallory is not paid' };
    },
    // Sees every result before the model does.
    onPostToolUse: ({ toolResult }) => ({
      modifiedResult: { ...toolResult, textResultForLlm: `${toolResult.textResultForLlm} (checked)` },
    }),
  },
});

const refused = await session.sendAndWait("Use the tool pay with to 'Mallory', then reply with the result");
console.log(refused?.data.content);
assert.match(refused?.data.content ?? '', /Mallory is not paid/);

const done = await session.sendAndWait("Use the tool pay with to 'Alice', then reply with the result");
console.log(done?.data.content);
assert.match(done?.data.content ?? '', /paid Alice \(checked\)/);
assert.deepEqual(paid, ['Alice']);
