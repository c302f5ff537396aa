import { liveRuntime, refuse, say, type WireClient } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });

/** Answers each question for a token with the next of these. */
function give(client: WireClient, ...tokens: readonly (string | Error)[]): unknown[] {
  const asked: unknown[] = [];
  client.answer = async (method, params) => {
    const token = tokens[asked.length];
    asked.push({ method, params });
    if (token === undefined) throw new Error('No more tokens');
    if (token instanceof Error) throw token;
    return { token };
  };
  return asked;
}

const authorizations = (model: { requests: readonly { headers: { authorization?: string } }[] }) =>
  model.requests.map(({ headers }) => headers.authorization);

test('a client is asked for the token before each call, and again when the service refuses it', async () => {
  const client = await runtime.connect();
  const asked = give(client, 'one', 'two', 'three');
  const model = runtime.script(say('a'), refuse(401, 'expired'), say('b'));
  const provider = { baseUrl: model.baseUrl, apiKey: 'unused', hasBearerTokenProvider: true };
  const session = await client.create({ model: 'm-1', provider });
  await session.turn('One');
  await session.turn('Two');
  expect(authorizations(model)).toEqual(['Bearer one', 'Bearer two', 'Bearer three']);
  const { sessionId } = session;
  const question = { method: 'providerToken.getToken', params: { sessionId, providerName: 'default' } };
  expect(asked).toEqual([question, question, question]);
});

test('each of several services has tokens of its own', async () => {
  const client = await runtime.connect();
  client.answer = async (_method, params) => ({
    token: `for-${(params as { providerName: string }).providerName}`,
  });
  const red = runtime.script(say('a'));
  const blue = runtime.script(say('b'));
  const named = (name: string, { baseUrl }: { baseUrl: string }) => ({
    name,
    baseUrl,
    hasBearerTokenProvider: true,
  });
  const session = await client.create({
    model: 'red/m',
    providers: [named('red', red)],
    models: [{ id: 'm', provider: 'red' }],
  });
  await session.turn('One');
  await session.call('session.provider.add', {
    providers: [named('blue', blue)],
    models: [{ id: 'm', provider: 'blue' }],
  });
  await session.call('session.model.switchTo', { modelId: 'blue/m' });
  await session.turn('Two');
  expect([authorizations(red), authorizations(blue)]).toEqual([['Bearer for-red'], ['Bearer for-blue']]);
});

test.each<[string | Error, string]>([
  [
    new Error('the vault is locked'),
    'The client gave no token for the provider "default": the vault is locked',
  ],
  ['', 'The client gave no token for the provider "default": the token is empty'],
  ['two\nlines', 'The value of the header authorization has characters that cannot be sent'],
])('a token that is %s ends the turn with an error that says so', async (token, reason) => {
  const client = await runtime.connect();
  give(client, token);
  const model = runtime.script(say('never'));
  const session = await client.create({
    model: 'm-1',
    provider: { baseUrl: model.baseUrl, hasBearerTokenProvider: true },
  });
  const events = await session.turn('One');
  expect(events.find(({ type }) => type === 'session.error')?.data).toMatchObject({
    errorType: 'configuration',
    message: reason,
  });
  expect(model.requests).toEqual([]);
});

test('who comes last with the service is asked, and without anybody the error says what to do', async () => {
  const first = await runtime.connect();
  const second = await runtime.connect();
  const watcher = await runtime.connect();
  give(first, 'of-the-first');
  give(second, 'of-the-second');
  const model = runtime.script(say('a'), say('b'));
  const provider = { baseUrl: model.baseUrl, hasBearerTokenProvider: true };
  const session = await first.create({ model: 'm-1', provider });
  await second.resume(session.sessionId, { provider });
  const watched = await watcher.resume(session.sessionId);
  await watched.turn('One');
  await second.call('session.destroy', { sessionId: session.sessionId });
  await watched.turn('Two');
  await first.call('session.destroy', { sessionId: session.sessionId });
  const events = await watched.turn('Three');
  expect(authorizations(model)).toEqual(['Bearer of-the-second', 'Bearer of-the-first']);
  expect(events.find(({ type }) => type === 'session.error')?.data).toMatchObject({
    errorType: 'configuration',
    message:
      'No client is attached that gives tokens for the provider "default": resume the session with its bearer token provider.',
  });
});

test('an update may turn from a key to tokens of a client', async () => {
  const client = await runtime.connect();
  give(client, 'fresh');
  const model = runtime.script(say('a'), say('b'));
  const session = await client.create({ model: 'm-1', provider: { baseUrl: model.baseUrl, apiKey: 'key' } });
  await session.turn('One');
  await session.call('session.provider.update', { provider: { hasBearerTokenProvider: true } });
  await session.turn('Two');
  expect(authorizations(model)).toEqual(['Bearer key', 'Bearer fresh']);
});

test('an abort does not wait for a token that never comes', async () => {
  const client = await runtime.connect();
  let wasAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => {
    wasAsked = resolve;
  });
  client.answer = () => {
    wasAsked();
    return new Promise(() => undefined);
  };
  const model = runtime.script();
  const session = await client.create({
    model: 'm-1',
    provider: { baseUrl: model.baseUrl, hasBearerTokenProvider: true },
  });
  await session.send('One');
  await asked;
  await session.call('session.abort');
  const { data } = await session.next('session.idle');
  expect(data).toEqual({ aborted: true });
});
