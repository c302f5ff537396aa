import { liveRuntime, say } from '@groundcrew/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ServerScript, testServer, until } from './mcp-world.js';

const runtime = liveRuntime();

interface Server {
  readonly name: string;
  readonly status: string;
  readonly error?: string;
}

/** The servers as they are at the end of a turn, which no server may keep from ending. */
async function serversAfterTurn(scripts: readonly ServerScript[], config: object = {}) {
  const mcpServers = Object.fromEntries(
    scripts.map((script, index) => [`s${index}`, testServer(script, config)]),
  );
  const { session } = await runtime.session([say('hi')], { mcpServers });
  const events = await session.turn('Go');
  expect(events.find(({ type }) => type === 'assistant.message')?.data).toMatchObject({ content: 'hi' });
  const { servers } = await session.call<{ servers: readonly Server[] }>('session.mcp.list');
  return { servers, session };
}

const steps = ['server/discover', 'initialize', 'notifications/initialized', 'tools/list'];

test('a server that dies at any step of the handshake has failed, with its exit code', async () => {
  const { servers, session } = await serversAfterTurn(['start', ...steps].map((dieAt) => ({ dieAt })));
  const reasons = servers.map(({ status, error }) => `${status}: ${error}`);
  expect(reasons).toEqual([
    'failed: it exited with code 7',
    // Greeted the old way it lives.
    'connected: undefined',
    'failed: it exited with code 7',
    expect.stringMatching(/^failed: (its tools could not be listed: )?it exited with code 7$/),
    'failed: its tools could not be listed: it exited with code 7',
  ]);
  await session.call('session.destroy');
});

test('a server that falls silent at any step holds no turn past its limit', async () => {
  const began = performance.now();
  const scripts = ['initialize', 'tools/list', '*'].map((silentAt) => ({ silentAt }));
  const { servers, session } = await serversAfterTurn(scripts, { timeout: 700 });
  expect(performance.now() - began).toBeLessThan(5000);
  for (const { status, error } of servers) {
    if (status === 'failed') expect(error).toContain('time-out');
    else expect(status).toBe('pending');
  }
  await session.call('session.destroy');
});

const answers: readonly string[] = [
  'not JSON\n',
  '{"jsonrpc":"2.0","id":$ID,"result":null}\n',
  '{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":7,"tools":{}}}\n',
  '{"jsonrpc":"2.0","id":$ID,"error":"no"}\n',
  '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32000,"message":"no"}}\n',
  '{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":1}],"protocolVersion":"1999-01-01"}}\n',
  '{"jsonrpc":"2.0","id":$ID,"result":{',
];

test('a server that answers nonsense at any step of the handshake has a clear status', async () => {
  const scripts = ['initialize', 'tools/list'].flatMap((method) =>
    answers.map((answer) => ({ answerAt: { [method]: answer } })),
  );
  const { servers, session } = await serversAfterTurn(scripts, { timeout: 700 });
  await until(async () => {
    const { waitingOn } = await session.call<{ waitingOn: readonly unknown[] }>('session.metadata.activity');
    return waitingOn.length === 0;
  });
  const unclear = servers.filter(
    ({ status, error }) => status !== 'pending' && (status !== 'failed' || !error),
  );
  expect(unclear).toEqual([]);
  await session.call('session.destroy');
});

const chatter = { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 1 } };

test.each<[string, string, number, RegExp]>([
  ['nests deeper than anything reads', `${'['.repeat(10_000)}\n`, 1, /nested deeper than 256 levels/],
  ['sends a message without end', 'x'.repeat(1024), 9 * 1024, /more than 8 MiB/],
  ['writes what is no message', 'hello\n', 1500, /writes what is no JSON-RPC message, such as "hello"/],
  ['floods its client', `${JSON.stringify(chatter)}\n`, 6000, /more than 5000 messages in 10 s/],
])('a server that %s is left, and says so', async (_, answer, times, reason) => {
  const { servers, session } = await serversAfterTurn([{ answerAt: { initialize: answer }, times }, {}]);
  expect(servers).toMatchObject([
    { status: 'failed', error: expect.stringMatching(reason) },
    { status: 'connected' },
  ]);
  await session.call('session.destroy');
});

const json = fc.json({ maxDepth: 3 });
const odd = fc.oneof(
  fc.string({ maxLength: 200 }).map((text) => text.replaceAll('\n', ' ')),
  json,
  json.map((result) => `{"jsonrpc":"2.0","id":${result},"result":${result}}`),
  fc.nat(10_000).map((id) => JSON.stringify({ jsonrpc: '2.0', id, result: {} })),
  json.map((params) => `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`),
  json.map((params) => `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":${params}}`),
  json.map((params) => `{"jsonrpc":"2.0","id":"x","method":"sampling/createMessage","params":${params}}`),
  json.map((params) => `{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":${params}}`),
  fc.constantFrom('\u0000', '\ufeff{}', '[[]]', '{"jsonrpc":"1.0"}', '{"jsonrpc":"2.0"}', '\u2028', '{'),
  fc.string({ maxLength: 50 }).map((method) => JSON.stringify({ jsonrpc: '2.0', id: 5, method })),
);

test('a thousand malformed messages crash nothing, hang nothing, and leave every server with a clear status', async () => {
  const messages = fc.sample(odd, 1000);
  const scripts = Array.from({ length: 20 }, (_, index) => {
    const mine = messages.slice(index * 50, (index + 1) * 50);
    return { first: `${mine.slice(0, 25).join('\n')}\n`, after: `${mine.slice(25).join('\n')}\n` };
  });
  for (let at = 0; at < scripts.length; at += 5) {
    const { servers, session } = await serversAfterTurn(scripts.slice(at, at + 5));
    for (const { status, error } of servers)
      expect(`${status} ${error ?? ''}`).toMatch(/^(connected|failed .+)/);
    expect(await session.call('session.metadata.isProcessing')).toEqual({ processing: false });
    await session.call('session.destroy');
  }
});
