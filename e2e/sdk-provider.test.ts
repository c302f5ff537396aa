import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { liveRuntime, say } from '@groundcrew/testkit';
import { afterEach, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const clients: Client[] = [];

async function newClient(): Promise<Client> {
  const client = new Client({ connection: RuntimeConnection.forUri(`${await runtime.process.port()}`) });
  clients.push(client);
  return client;
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.stop()));
});

test('an app updates the service of a session, and gives tokens where it gave a key', async () => {
  const model = runtime.script(say('a'), say('b'), say('c'));
  const client = await newClient();
  const session = await client.createSession({
    model: 'm-1',
    provider: { baseUrl: model.baseUrl, apiKey: 'key-1', headers: { 'X-Team': 'blue' } },
  });
  await session.sendAndWait('One');
  await session.updateProvider({ apiKey: 'key-2' });
  await session.sendAndWait({
    prompt: 'Two',
    requestHeaders: { 'X-Turn': '2' },
    headerMergeStrategy: 'override',
  });
  const asked: unknown[] = [];
  await session.updateProvider({
    bearerTokenProvider: (request) => {
      asked.push(request);
      return 'token-3';
    },
  });
  await session.sendAndWait({ prompt: 'Three', requestHeaders: { 'X-Turn': '3' } });
  const names = ['authorization', 'x-team', 'x-turn'] as const;
  expect(model.requests.map(({ headers }) => names.map((name) => headers[name]))).toEqual([
    ['Bearer key-1', 'blue', undefined],
    ['Bearer key-2', undefined, '2'],
    ['Bearer token-3', 'blue', '3'],
  ]);
  expect(asked).toEqual([{ sessionId: session.sessionId, providerName: 'default' }]);
});

test('an app names several services and gives the tokens of each', async () => {
  const alpha = runtime.script(say('a'));
  const beta = runtime.script(say('b'));
  const client = await newClient();
  const session = await client.createSession({
    model: 'alpha/one',
    providers: [
      { name: 'alpha', baseUrl: alpha.baseUrl, bearerTokenProvider: () => 'token-alpha' },
      { name: 'beta', baseUrl: beta.baseUrl, apiKey: 'key-beta' },
    ],
    models: [
      { id: 'one', provider: 'alpha', wireModel: 'wire-one' },
      { id: 'two', provider: 'beta' },
    ],
  });
  await session.sendAndWait('One');
  await session.updateProvider({ providerName: 'beta', bearerTokenProvider: async () => 'token-beta' });
  await session.setModel('beta/two');
  await session.sendAndWait('Two');
  const seen = [alpha, beta].map(({ requests }) =>
    requests.map(({ headers, body }) => [headers.authorization, body.model]),
  );
  expect(seen).toEqual([[['Bearer token-alpha', 'wire-one']], [['Bearer token-beta', 'two']]]);
});

test('the provider of a session opened again is the one it was updated to', async () => {
  const model = runtime.script(say('a'), say('b'));
  const client = await newClient();
  const session = await client.createSession({
    model: 'm-1',
    provider: { baseUrl: model.baseUrl, apiKey: 'key-1' },
  });
  await session.sendAndWait('One');
  await session.updateProvider({ apiKey: 'key-2' });
  const again = await (await newClient()).resumeSession(session.sessionId);
  await again.sendAndWait('Two');
  expect(model.requests.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer key-1',
    'Bearer key-2',
  ]);
});
