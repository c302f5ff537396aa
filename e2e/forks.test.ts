import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteStore } from '@groundcrew/store-sqlite';
import {
  hold,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  type ScriptedReply,
  say,
  temporaryDirectory,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { afterAll, describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const homes: ReturnType<typeof temporaryDirectory>[] = [];
afterAll(() => {
  for (const home of homes) home.remove();
});

const long = (word: string) => `${word} ${'and so on '.repeat(400)}`;
const summary = (word: string) =>
  say(`<overview>${word}</overview><checkpoint_title>About ${word}</checkpoint_title>`);
const said = ({ requests }: ScriptedModel) =>
  (requests.at(-1)?.body.messages ?? [])
    .slice(1)
    .map(({ role, content }) => `${role} ${String(content).replace(/^<current_datetime>.*\n\n/, '')}`);
const textsOf = async (session: WireSession) =>
  (await session.stored()).flatMap(({ type, data }) =>
    type === 'user.message' || type === 'assistant.message' ? [(data as { content: string }).content] : [],
  );
const promptOf = async (session: WireSession, text: string) =>
  (await session.stored()).find(
    ({ type, data }) => type === 'user.message' && (data as { content: string }).content === text,
  )?.id;

async function fork(client: WireClient, from: WireSession, toEventId?: string) {
  const { sessionId } = await client.call<{ sessionId: string }>('sessions.fork', {
    sessionId: from.sessionId,
    ...(toEventId !== undefined && { toEventId }),
  });
  return sessionId;
}

/** A home of its own, with a process that can be killed. */
async function world(...replies: readonly ScriptedReply[]) {
  const home = temporaryDirectory();
  homes.push(home);
  const model = runtime.script(...replies);
  const begin = async () => {
    const process = runtime.spawn({ flags: ['--stdio'], home: home.path });
    return { process, client: await runtime.connect(process) };
  };
  return { model, begin, home: home.path };
}

describe('a fork and its source', () => {
  test.each(['source', 'fork'] as const)(
    'go their own ways when the %s is compacted, taken back and deleted, with kills in between',
    async (first) => {
      const { model, begin } = await world(
        say(long('one')),
        say(long('two')),
        ...[summary('first'), say('after first'), summary('second'), say('after second'), say('last')],
      );
      const one = await begin();
      const source = await one.client.create(providerOf(model));
      await source.turn(long('First'));
      await source.turn(long('Second'));
      const sourceId = source.sessionId;
      const forkId = await fork(one.client, source);
      await one.process.signal('SIGKILL');

      const texts = [long('First'), long('one'), long('Second'), long('two')];
      const two = await begin();
      const [changed, other] = first === 'source' ? [sourceId, forkId] : [forkId, sourceId];
      const open = async (client: WireClient, id: string) => client.resume(id, providerOf(model));
      const compacted = await open(two.client, changed);
      expect(await compacted.call('session.history.compact')).toMatchObject({ success: true });
      await compacted.turn('Third');
      await two.process.signal('SIGKILL');

      const three = await begin();
      const untouched = await open(three.client, other);
      expect(await textsOf(untouched)).toEqual(texts);
      await untouched.call('session.history.truncate', {
        eventId: await promptOf(untouched, long('Second')),
      });
      const again = await open(three.client, changed);
      expect(await textsOf(again)).toEqual([...texts, 'Third', 'after first']);
      await three.client.call('session.delete', { sessionId: other });
      await three.process.signal('SIGKILL');

      const four = await begin();
      const left = await open(four.client, changed);
      expect(await textsOf(left)).toEqual([...texts, 'Third', 'after first']);
      expect(await left.call('session.history.compact')).toMatchObject({ success: true });
      await left.turn('Fourth');
      expect(said(model).at(-1)).toBe('user Fourth');
      expect(said(model)[0]).toContain(long('First').trim());
      expect(await four.client.call('session.list')).toMatchObject({ sessions: [{ sessionId: changed }] });
    },
  );

  test('a fork at an earlier event has the summaries up to there, and numbers its own on from them', async () => {
    const { model, begin } = await world(
      ...[say('one'), summary('first'), say('two'), summary('second'), say('three'), say('on the fork')],
      ...[summary('third'), say('end')],
    );
    const { client } = await begin();
    const source = await client.create(providerOf(model));
    await source.turn('First');
    await source.call('session.history.compact');
    await source.turn('Second');
    await source.call('session.history.compact');
    await source.turn('Third');
    const id = await fork(client, source, await promptOf(source, 'Third'));
    const earlier = await fork(client, source, await promptOf(source, 'Second'));
    const titles = async (session: WireSession) => {
      const { checkpoints } = await session.call<{
        checkpoints: readonly { number: number; title: string }[];
      }>('session.workspaces.listCheckpoints');
      return checkpoints.map(({ number, title }) => `${number} ${title}`);
    };
    expect(await titles(await client.resume(id, providerOf(model)))).toEqual([
      '1 About first',
      '2 About second',
    ]);
    const way = await client.resume(earlier, providerOf(model));
    expect(await titles(way)).toEqual(['1 About first']);
    await way.turn('Another way');
    await way.call('session.history.compact');
    expect(await titles(way)).toEqual(['1 About first', '2 About third']);
    expect(await titles(source)).toEqual(['1 About first', '2 About second']);
  });

  test('a fork of a session that is being compacted has the conversation as it was', async () => {
    const held = hold(summary('late'));
    const { model, begin } = await world(say('one'), held.reply, say('two'), say('three'));
    const { client } = await begin();
    const source = await client.create(providerOf(model));
    await source.turn('First');
    const compacting = source.call('session.history.compact');
    await source.next('session.compaction_start');
    const way = await client.resume(await fork(client, source), providerOf(model));
    held.release();
    expect(await compacting).toMatchObject({ success: true });
    await way.turn('Second');
    expect(said(model)).toEqual(['user First', 'assistant one', 'user Second']);
  });

  test('what a killed fork left keeps no word of its source once that is deleted, and never shows', async () => {
    const { model, begin, home } = await world(say('one'));
    const one = await begin();
    const source = await one.client.create(providerOf(model));
    const secret = 'nobody-may-read-this-fork-again';
    await source.turn(`${secret} ${long('and on')}`);
    await one.process.stop();
    const store = openSqliteStore({ file: join(home, 'groundcrew.db'), runDirectory: join(home, 'run') });
    const records = [];
    for await (const batch of store.read(source.sessionId)) records.push(...batch);
    const [listed] = (await store.list({ sessionId: source.sessionId })).items;
    if (!listed) throw new Error('The session is not stored');
    await store.claim({
      sessionId: 'half-a-fork',
      owner: { runtimeId: 'killed', pid: 1, host: 'none' },
      create: {
        records: records.map((each) => ({ ...each, sameAs: { sessionId: source.sessionId, seq: each.seq } })),
        head: { ...listed.head, userTurns: 0, isUnfinished: true },
      },
    });
    await store.close();
    const { client } = await begin();
    expect(await client.call('session.list')).toMatchObject({ sessions: [{ sessionId: source.sessionId }] });
    await client.call('session.delete', { sessionId: source.sessionId });
    expect(filesWith(home, secret)).toEqual([]);
    expect(await client.call('sessions.getSizes')).toEqual({ sizes: {} });
  });
});

/** The files of a home that have the text in them. */
function filesWith(home: string, text: string): readonly string[] {
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}
