import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  byExtent,
  hold,
  liveRuntime,
  providerOf,
  RuleModel,
  say,
  temporaryDirectory,
} from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { churn } from '../bench/sessions/measures.js';
import { attackDeletion } from '../security/deletion.js';
import { attackLinks } from '../security/links.js';

const runtime = liveRuntime();
const secret = 'nobody-may-read-this-again';

// Short forms of `npm run attack`.
test('a deletion that is killed at a write step is finished later, and no repair brings the session back', async () => {
  expect((await attackDeletion({ count: byExtent({ short: 2, full: 8 }), seed: 3 })).violations).toEqual([]);
}, 120_000);

// The short form of `npm run bench:sessions -- --only churn`.
test('of sessions that come and go, also through searches, neither rows nor files nor bytes are left', async () => {
  const home = temporaryDirectory();
  const model = await RuleModel.open(() => ({ chunks: ['Something about it.'] }));
  const left = await churn(
    { home: home.path, model },
    byExtent({ short: { cycles: 30, first: 10 }, full: { cycles: 120, first: 40 } }),
  );
  await model.close();
  home.remove();
  expect({ rows: left.rows, names: left.names }).toEqual({ rows: {}, names: [] });
  expect(left.after - left.before).toBeLessThan(1024 * 1024);
}, 60_000);

test('what rules deny is not found, whatever links are put in the way of file tools', async () => {
  expect((await attackLinks({ count: byExtent({ short: 25, full: 120 }), seed: 5 })).violations).toEqual([]);
}, 60_000);

test('an answer to session.delete means that no file of the home has a word of the session', async () => {
  const { session } = await runtime.session([say(secret)]);
  const { client } = runtime;
  await session.turn(`Keep this: ${secret}`);
  await session.call('session.workspaces.createFile', { path: 'notes.txt', content: secret });
  await session.call('session.plan.update', { content: secret });
  expect(filesWith(secret).length).toBeGreaterThan(2);
  expect(await client.call('session.delete', { sessionId: session.sessionId })).toEqual({ success: true });
  expect(filesWith(secret)).toEqual([]);
  expect(await client.call('session.list', {})).toEqual({ sessions: [] });
});

test('a session that was taken back to its beginning leaves no word when it is deleted, although no prompt is seen in it', async () => {
  const { session } = await runtime.session([say(`${secret} too`)]);
  const { sessionId } = session;
  await session.turn(`${secret} ${'and so on '.repeat(100)}`);
  const eventId = (await session.stored()).find(({ type }) => type === 'user.message')?.id;
  await session.call('session.history.truncate', { eventId });
  await runtime.client.call('session.delete', { sessionId });
  expect(filesWith(secret)).toEqual([]);
});

test('a session that another live process works in is not deleted, and one that it has closed is', async () => {
  const held = hold();
  const { session } = await runtime.session([held.reply]);
  await session.send('Work');
  await session.next('assistant.turn_start');
  const other = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
  const { sessionId } = session;
  const refusal = await other.failure('session.delete', { sessionId });
  expect(refusal).toMatchObject({ message: expect.stringMatching(/in use by process \d+/) });
  held.release();
  await session.next('session.idle');
  await session.call('session.destroy');
  expect(await other.call('session.delete', { sessionId })).toEqual({ success: true });
});

test('a session that is open and idle in another live process is deleted, and that process finds it gone', async () => {
  const { session, model } = await runtime.session([say(secret), say('again')]);
  await session.turn(`Keep this: ${secret}`);
  const { sessionId } = session;
  const other = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
  expect(await other.call('session.delete', { sessionId })).toEqual({ success: true });
  expect(filesWith(secret)).toEqual([]);
  const notFound = { data: { code: 'session_not_found' } };
  expect(await session.failure('session.send', { prompt: `More of ${secret}` })).toMatchObject(notFound);
  expect(await runtime.client.failure('session.resume', { sessionId, ...providerOf(model) })).toMatchObject({
    message: expect.stringContaining('Session not found'),
  });
  expect(await session.call('session.destroy')).toEqual({ success: true });
  expect(await runtime.client.call('session.list', {})).toEqual({ sessions: [] });
  expect(filesWith(secret)).toEqual([]);
});

function filesWith(text: string): readonly string[] {
  return readdirSync(runtime.home.path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => existsSync(file) && readFileSync(file).includes(text));
}
