import type { AnyEvent } from '@groundcrew/protocol';
import { callTools, liveRuntime, providerOf, say, type WireClient } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { MemoryFiles } from './session-files-world.js';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const root = '/kept/state';

type Params = Readonly<Record<string, string>>;

/** An app that stores files, by the wire; what `fault` gives is its answer in place of the true one. */
class StoringApp {
  readonly files = new MemoryFiles();
  fault: (name: string, params: Params) => unknown = () => undefined;

  async answer(method: string, params: Params): Promise<unknown> {
    const name = method.replace('sessionFs.', '');
    const wrong = await this.fault(name, params);
    if (wrong !== undefined) return wrong;
    const { path = '', content = '', src = '', dest = '' } = params;
    const { files } = this;
    const error = { code: 'ENOENT', message: 'none' };
    switch (name) {
      case 'readFile':
        return files.readFile(path).then(
          (text) => ({ content: text }),
          () => ({ content: '', error }),
        );
      case 'stat':
        return files.stat(path).catch(() => ({ ...nothing, error }));
      case 'readdirWithTypes':
        return files.readdir(path).then(
          (entries) => ({ entries }),
          () => ({ entries: [], error }),
        );
      case 'writeFile':
        return files.writeFile(path, content).then(() => null);
      case 'appendFile':
        return files.appendFile(path, content).then(() => null);
      case 'mkdir':
        return files.mkdir(path).then(() => null);
      case 'rename':
        return files.rename(src, dest).then(() => null);
      case 'rm':
        return files.rm(path).then(() => null);
      default:
        return { exists: false, rows: [], columns: [], rowsAffected: 0, results: [] };
    }
  }

  get events(): readonly AnyEvent[] {
    const lines = (this.files.texts.get(`${root}/events.jsonl`) ?? '').split('\n');
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as AnyEvent);
  }
}

const time = '2026-01-02T03:04:05.000Z';
const nothing = { isFile: false, isDirectory: false, size: 0, mtime: time, birthtime: time };

async function storing(app: StoringApp, process = runtime.process, sqlite = true): Promise<WireClient> {
  const client = await runtime.connect(process, { hasGaps: true });
  client.answer = (method, params) => app.answer(method, params as Params);
  await client.call('sessionFs.setProvider', {
    initialCwd: runtime.workingDirectory,
    sessionStatePath: root,
    conventions: 'posix',
    capabilities: { sqlite },
  });
  return client;
}

const warnings = (events: readonly AnyEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { readonly message: string }).message] : [],
  );
const lasting = (events: readonly AnyEvent[]) => events.filter(({ ephemeral }) => !ephemeral);

describe('an app that answers wrongly', () => {
  test('has stored nothing, wherever it says so and whatever else it answers', async () => {
    const app = new StoringApp();
    const client = await storing(app);
    const session = await client.create({});
    const update = async (answer: unknown) => {
      app.fault = (name) => (name === 'writeFile' ? answer : undefined);
      return String(
        (await session.failure('session.plan.update', { content: String(Math.random()) })).message,
      );
    };
    for (const answer of [
      { code: 'ENOSPC', message: 'full' },
      { error: { code: 'ENOSPC', message: 'full' } },
      { error: 'full' },
      { message: 'full' },
    ])
      expect(await update(answer)).toContain('could not write /kept/state/plan.md: full');
    for (const answer of [42, 'text', false, { code: 5 }, [], [1]])
      expect(await update(answer)).toContain('answered otherwise than the protocol says');
    await client.call('session.destroy', { sessionId: session.sessionId });
  });

  test('cannot lead this disk into paths without end, and is told which name is too long', async () => {
    const app = new StoringApp();
    const client = await storing(app);
    const session = await client.create({});
    const list = async (name: string) => {
      app.fault = (call) => {
        if (call === 'stat') return { ...nothing, isDirectory: true };
        return call === 'readdirWithTypes' ? { entries: [{ name, type: 'directory' }] } : undefined;
      };
      return String((await session.failure('session.workspaces.listFiles')).message);
    };
    expect(await list('again-and-again-and-again-and-again-and-again-and-again')).toContain('deeper than 64');
    const long = await list('x'.repeat(5000));
    expect(long).toContain('5000 bytes long');
    expect(long.length).toBeLessThan(300);
    app.fault = () => undefined;
    expect(await session.call('session.workspaces.listFiles')).toEqual({ files: [] });
    await client.call('session.destroy', { sessionId: session.sessionId });
  });

  test('to a transaction leaves no doubt with the model: half an answer is a failure', async () => {
    const app = new StoringApp();
    const client = await storing(app);
    const done = { rows: [], columns: [], rowsAffected: 1 };
    const fault = { code: 'UNKNOWN', message: 'half of it failed' };
    const answers = [{ results: [done] }, { results: [done, { ...done, error: fault }] }];
    const query = 'BEGIN; DELETE FROM todos; DELETE FROM todos; COMMIT';
    const calls = answers.map((_, index) =>
      callTools({ id: `c${index}`, name: 'sql', arguments: { description: 'x', query } }),
    );
    app.fault = (name) => (name === 'sqliteTransaction' ? answers.shift() : undefined);
    const model = runtime.script(...calls, say('done'));
    const session = await client.create({ ...providerOf(model), requestPermission: false });
    const failures = (await session.turn('Go')).flatMap(({ type, data }) =>
      type === 'tool.execution_complete' ? [(data as { error?: { message: string } }).error?.message] : [],
    );
    expect(failures).toEqual([
      expect.stringContaining('answered 1 of 2 statements'),
      expect.stringContaining('half of it failed'),
    ]);
    await client.call('session.destroy', { sessionId: session.sessionId });
  });
});

test('files that are the runtime’s own are neither read nor removed by the names that an app lists', async () => {
  const app = new StoringApp();
  const client = await storing(app, runtime.process, false);
  const sql = (query: string, id: string) =>
    callTools({ id, name: 'sql', arguments: { description: 'x', query } });
  const model = runtime.script(
    sql("INSERT INTO todos(id, title) VALUES ('a', 'First')", 'c1'),
    callTools({ id: 'c2', name: 'view', arguments: { path: `${root}/session.db` } }),
    callTools({ id: 'c3', name: 'grep', arguments: { pattern: 'x', path: root } }),
    say('done'),
  );
  const session = await client.create({ ...providerOf(model), requestPermission: false });
  app.files.texts.set(`${root}/events.mark.json`, 'of the app');
  app.files.texts.set(`${root}/session.db`, 'of the app');
  await session.turn('Go');
  const { rows } = await session.call<{ rows: unknown[] }>('session.plan.readSqlTodos');
  expect(rows).toMatchObject([{ id: 'a', title: 'First' }]);
  await client.call('session.destroy', { sessionId: session.sessionId });
  expect(app.events.at(-1)?.type).toBe('session.shutdown');
});

test('an app that cannot take events causes one warning in the session, and has all of them when it can', async () => {
  const app = new StoringApp();
  const client = await storing(app);
  const session = await client.create(providerOf(runtime.script(say('one'), say('two'))));
  app.fault = (name) => {
    if (name === 'appendFile' || name === 'writeFile') throw new Error('the disk is full');
  };
  await session.turn('First');
  const warned = () => warnings(session.events);
  await client.until(() => (warned().length > 0 ? true : undefined), 'a warning');
  expect(warned()).toEqual([expect.stringContaining('the disk is full')]);
  app.fault = () => undefined;
  await session.turn('Second');
  const stored = lasting(await session.stored());
  await client.call('session.destroy', { sessionId: session.sessionId });
  expect(app.events.slice(0, -1)).toEqual(stored);
});

test('of two apps each has whole files: the one that came last, and the first again when that one leaves in the middle of a write', async () => {
  const [first, second] = [new StoringApp(), new StoringApp()];
  const one = await storing(first);
  const session = await one.create(providerOf(runtime.script(say('one'), say('three'))));
  await session.turn('First');
  const two = await storing(second);
  const joined = await two.resume(session.sessionId, providerOf(runtime.script(say('two'), say('three'))));
  await joined.turn('Second');
  await session.untilIdle();
  expect(second.files.texts.get(`${root}/workspace.yaml`)).toContain(session.sessionId);
  const isReached = new Promise<void>((resolve) => {
    second.fault = (name, { path }) => {
      if (name !== 'writeFile' || path !== `${root}/plan.md`) return undefined;
      resolve();
      return new Promise(() => undefined);
    };
  });
  const held = session.failure('session.plan.update', { content: 'lost' });
  await isReached;
  await two.close();
  expect(String((await held).message)).toContain('The client has left');
  await session.call('session.plan.update', { content: 'kept' });
  expect(first.files.texts.get(`${root}/plan.md`)).toBe('kept');
  await session.turn('Third');
  const stored = lasting(await session.stored());
  await one.call('session.destroy', { sessionId: session.sessionId });
  expect(first.events.slice(0, -1)).toEqual(stored);
});

test('a runtime that is killed while an app writes loses nothing of the log, and the app has it all after a resume', async () => {
  const app = new StoringApp();
  const doomed = runtime.spawn({ flags: ['--port', '0'] });
  const client = await storing(app, doomed);
  const session = await client.create(providerOf(runtime.script(say('one'))));
  const isReached = new Promise<void>((resolve) => {
    app.fault = (name, { path = '', content = '' }) => {
      if (name !== 'appendFile' || !content.includes('assistant.message')) return undefined;
      // Half of it arrives.
      app.files.texts.set(path, (app.files.texts.get(path) ?? '') + content.slice(0, content.length / 2));
      resolve();
      return new Promise(() => undefined);
    };
  });
  await session.turn('First');
  await isReached;
  doomed.kill('SIGKILL');
  await doomed.exited;
  app.fault = () => undefined;
  const again = await storing(app);
  const resumed = await again.resume(session.sessionId, providerOf(runtime.script(say('two'))));
  await resumed.turn('Second');
  const stored = lasting(await resumed.stored());
  await again.call('session.destroy', { sessionId: session.sessionId });
  expect(app.events.slice(0, -1)).toEqual(stored);
  expect(stored.filter(({ type }) => type === 'assistant.message')).toHaveLength(2);
});

test('an app that answers nothing when its session is closed: what is waited for is said, and the log has all of it', async () => {
  const app = new StoringApp();
  const client = await storing(app);
  const session = await client.create(providerOf(runtime.script(say('one'))));
  const { sessionId } = session;
  await session.turn('Hello');
  const before = app.events.length;
  app.fault = () => new Promise(() => undefined);
  const began = performance.now();
  await session.call('session.log', { message: 'so far' });
  const destroyed = session.call('session.destroy');
  const { data } = await session.next('session.warning');
  expect(data.message).toMatch(/has not answered sessionFs\.\w+ for 2 s/);
  expect(await destroyed).toEqual({ success: true });
  expect(performance.now() - began).toBeLessThan(10_000);
  app.fault = () => undefined;
  const again = await client.resume(sessionId);
  await again.call('session.destroy');
  expect(app.events.length).toBeGreaterThan(before);
  expect(app.events.map(({ type }) => type)).toContain('session.info');
});
