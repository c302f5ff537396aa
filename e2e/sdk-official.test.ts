import {
  approveAll,
  CopilotClient,
  defineTool,
  RuntimeConnection,
  type SessionConfig,
} from '@github/copilot-sdk';
import { callTools, hold, providerOf, type ScriptedReply, say, streamChunks } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import * as z from 'zod';
import { runtimePath, sdkWorld } from './sdk-world.js';

const world = sdkWorld();
const clients: CopilotClient[] = [];

afterAll(() => Promise.all(clients.map((client) => client.forceStop())));

/** The official client on our runtime. */
function officialClient(): CopilotClient {
  const client = new CopilotClient({
    connection: RuntimeConnection.forStdio({ path: runtimePath }),
    workingDirectory: world.workingDirectory,
    baseDirectory: world.home.path,
    env: { PATH: process.env.PATH, HOME: world.home.path },
  });
  clients.push(client);
  return client;
}

async function officialSession(replies: readonly ScriptedReply[], config: Partial<SessionConfig> = {}) {
  const model = world.script(...replies);
  const client = officialClient();
  const session = await client.createSession({ ...providerOf(model), ...config });
  return { client, session, model };
}

test('the official client makes a session, is answered, and leaves in peace', async () => {
  const { client, session } = await officialSession([say('2')]);
  expect((await session.sendAndWait({ prompt: 'What is 1+1?' }))?.data.content).toBe('2');
  expect((await session.getEvents()).map(({ type }) => type)).toContain('user.message');
  await session.disconnect();
  expect(await client.stop()).toEqual([]);
});

test('the official client serves a tool that it has given permission to run', async () => {
  const replies = [callTools({ id: 'c', name: 'add', arguments: { a: 1, b: 2 } }), say('3')];
  const { session, model } = await officialSession(replies, {
    tools: [
      defineTool('add', {
        parameters: z.object({ a: z.number(), b: z.number() }),
        handler: ({ a, b }) => String(a + b),
      }),
    ],
    onPermissionRequest: approveAll,
  });
  expect((await session.sendAndWait({ prompt: '1+2?' }))?.data.content).toBe('3');
  expect((await model.asked(2)).body.messages.at(-1)?.content).toBe('3');
});

test('the official client rejects a call', async () => {
  const { session, model } = await officialSession([callTools({ id: 'c', name: 'rm', arguments: {} })], {
    tools: [defineTool('rm', { handler: () => 'gone' })],
    onPermissionRequest: () => ({ kind: 'reject' }),
  });
  await session.sendAndWait({ prompt: 'remove' });
  expect(model.requests).toHaveLength(1);
});

test('the official client hears an answer piece by piece', async () => {
  const { session } = await officialSession([streamChunks('Hel', 'lo')], { streaming: true });
  const pieces: string[] = [];
  session.on('assistant.message_delta', ({ data }) => pieces.push(data.deltaContent));
  await session.sendAndWait({ prompt: 'hi' });
  expect(pieces).toEqual(['Hel', 'lo']);
});

test('the official client resumes what our own began', async () => {
  const { session } = await world.session([say('42')]);
  await session.sendAndWait('Remember 42');
  await session.disconnect();
  const model = world.script(say('It was 42'));
  const resumed = await officialClient().resumeSession(session.sessionId, providerOf(model));
  expect((await resumed.sendAndWait({ prompt: 'What was it?' }))?.data.content).toBe('It was 42');
});

test('the official client stops a turn', async () => {
  const { session, model } = await officialSession([hold().reply, say('again')]);
  const wait = session.sendAndWait({ prompt: 'hi' });
  await model.asked(1);
  await session.abort();
  expect(await wait).toBeUndefined();
  expect((await session.sendAndWait({ prompt: 'and now?' }))?.data.content).toBe('again');
});

test('the official client hears which of its options have no effect', async () => {
  const { session } = await officialSession([say('hello')], {
    memory: { enabled: true },
    enableSessionStore: true,
  });
  const warnings: string[] = [];
  session.on('session.warning', ({ data }) => {
    warnings.push(data.message);
  });
  await session.sendAndWait({ prompt: 'Hello' });
  expect(warnings.map((message) => /^The option '(.*?)' has no effect/.exec(message)?.[1])).toEqual([
    'enableSessionStore',
    'memory',
  ]);
});
