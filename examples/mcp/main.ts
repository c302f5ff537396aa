// A session with an MCP server: its tools are offered as `<server>-<tool>`, and asked about before they run.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { approveAll, Client } from '@groundcrew/sdk';

const server = createRequire(import.meta.url).resolve(
  '@modelcontextprotocol/server-everything/dist/index.js',
);

await using client = new Client();
await using session = await client.createSession({
  mcpServers: { all: { command: process.execPath, args: [server] } },
  onPermissionRequest: approveAll,
});

session.on('session.mcp_server_status_changed', ({ data }) =>
  console.log(`${data.serverName}: ${data.status}`),
);

const answer = await session.sendAndWait(
  "Use the tool all-echo with message 'hello', then reply with the result",
);
console.log(answer?.data.content);
assert.match(answer?.data.content ?? '', /Echo: hello/);
