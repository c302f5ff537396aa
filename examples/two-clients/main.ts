import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Client, defineTool, RuntimeConnection } from '@groundcrew/sdk';

// The first client starts a runtime on a port; any client with the token may join it.
const connectionToken = randomUUID();
await using worker = new Client({ connection: RuntimeConnection.forTcp({ connectionToken }) });
await worker.start();
await using supervisor = new Client({
  connection: RuntimeConnection.forUri(`localhost:${worker.runtimePort}`, { connectionToken }),
});

// The worker brings the tool, and does not decide whether it may run ...
const session = await worker.createSession({
  tools: [
    defineTool('deploy', {
      parameters: {
        type: 'object',
        properties: { target: { type: 'string' } },
        required: ['target'],
      },
      handler: ({ target }) => `deployed to ${target}`,
    }),
  ],
});

// ... the supervisor joins the same session and decides.
const decided: string[] = [];
const watched = await supervisor.resumeSession(session.sessionId, {
  onPermissionRequest: (request) => {
    decided.push(request.kind === 'custom-tool' ? request.toolName : request.kind);
    return { kind: 'approve-once' };
  },
});
const seen: string[] = [];
watched.on('assistant.message', ({ data }) => seen.push(data.content));
const idle = new Promise((resolve) => watched.on('session.idle', resolve));

const answer = await session.sendAndWait(
  "Use the tool deploy with target 'staging', then reply with the result",
);
console.log(answer?.data.content);
assert.match(answer?.data.content ?? '', /deployed to staging/);
assert.deepEqual(decided, ['deploy']);

// Both receive the same events, each at its own pace.
await idle;
assert.equal(seen.at(-1), answer?.data.content);
