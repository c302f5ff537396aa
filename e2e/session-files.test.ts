import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  approveAll,
  type Client,
  type ClientOptions,
  RuntimeConnection,
  type SessionEvent,
} from '@groundcrew/sdk';
import { callTools, providerOf, say } from '@groundcrew/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import { sdkWorld } from './sdk-world.js';
import { MemoryFiles } from './session-files-world.js';

const world = sdkWorld();
const root = '/kept/state';
const stores = new Map<string, MemoryFiles>();
afterAll(() => stores.forEach(({ sqlite }) => void sqlite.close()));

const filesOf = (sessionId: string): MemoryFiles => {
  const files = stores.get(sessionId) ?? new MemoryFiles();
  stores.set(sessionId, files);
  return files;
};

/** A client whose app stores the files of its sessions. */
const storing = (more: Partial<ClientOptions['sessionFs']> = {}, options: ClientOptions = {}): Client =>
  world.newClient({
    ...options,
    sessionFs: { sessionStatePath: root, sqlite: true, open: filesOf, ...more },
  });

const shared = storing();
const call = (name: string, args: object, id = 'c1') => callTools({ id, name, arguments: args });

async function hosted(replies: Parameters<typeof world.session>[0], client = shared) {
  const { session, model } = await world.session(replies, { onPermissionRequest: approveAll }, client);
  return { session, model, files: filesOf(session.sessionId) };
}

const linesOf = (files: MemoryFiles) =>
  (files.texts.get(`${root}/events.jsonl`) ?? '')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SessionEvent);

const results = (events: readonly SessionEvent[]) =>
  events.flatMap((event) =>
    event.type === 'tool.execution_complete' ? [event.data.result?.content ?? event.data.error?.message] : [],
  );

describe('files that an app stores', () => {
  test('are there when the session is, and the session is known by their directory', async () => {
    const { session, files } = await hosted([]);
    expect(session.workspacePath).toBe(root);
    expect(files.names(`${root}/`)).toEqual(
      expect.arrayContaining(['checkpoints/index.md', 'workspace.yaml']),
    );
    expect([...files.directories]).toEqual(
      ['checkpoints', 'files', 'research'].map((name) => `${root}/${name}`),
    );
    const yaml = Object.fromEntries(
      (files.texts.get(`${root}/workspace.yaml`) ?? '').split('\n').map((line) => line.split(/: (.*)/, 2)),
    );
    expect(yaml).toMatchObject({
      id: session.sessionId,
      cwd: world.workingDirectory,
      client_name: 'sdk',
      user_named: 'false',
      created_at: expect.stringMatching(/^\d{4}-/),
    });
    expect(existsSync(join(world.home.path, 'session-state', session.sessionId, 'events.jsonl'))).toBe(false);
  });

  test('have every event of the log in order, from the first to the last, when the session is left', async () => {
    const { session, files } = await hosted([say('one'), say('two')]);
    await session.sendAndWait('first');
    await session.sendAndWait('second');
    const events = await session.getEvents();
    await session.disconnect();
    const lines = linesOf(files);
    expect(lines.slice(0, -1)).toEqual(events.filter(({ ephemeral }) => !ephemeral));
    expect(lines.at(-1)?.type).toBe('session.shutdown');
  });

  test('are brought up to date when a runtime that was killed is back', async () => {
    const client = storing();
    const { session, files, model } = await hosted([say('one'), say('two')], client);
    await session.sendAndWait('first');
    // The app loses what it is sent from here on, and the runtime is killed.
    files.before = (what) => {
      if (what === 'appendFile') throw new Error('disk full');
    };
    const held = session.sendAndWait('second');
    await held;
    await client.forceStop();
    files.before = () => undefined;
    const again = storing();
    const resumed = await again.resumeSession(session.sessionId, providerOf(model));
    const events = await resumed.getEvents();
    await resumed.disconnect();
    expect(linesOf(files).slice(0, -1)).toEqual(events.filter(({ ephemeral }) => !ephemeral));
    expect(events.filter(({ type }) => type === 'assistant.message')).toHaveLength(2);
    await again.stop();
  });

  test('hold the plan and the workspace files, and what the app changed there is what is read', async () => {
    const { session, files } = await hosted([]);
    await session.call('session.plan.update', { content: '# Mine' });
    expect(files.texts.get(`${root}/plan.md`)).toBe('# Mine');
    files.texts.set(`${root}/plan.md`, '# Theirs');
    expect(await session.call('session.plan.read')).toEqual({
      exists: true,
      content: '# Theirs',
      path: `${root}/plan.md`,
    });
    await session.call('session.workspaces.createFile', { path: 'a/b.txt', content: 'b' });
    files.texts.set(`${root}/files/c.txt`, 'c');
    expect(await session.call('session.workspaces.listFiles')).toEqual({ files: ['a/b.txt', 'c.txt'] });
    expect(await session.call('session.workspaces.readFile', { path: 'c.txt' })).toEqual({ content: 'c' });
    await session.call('session.plan.delete');
    files.texts.delete(`${root}/files/c.txt`);
    expect(files.texts.has(`${root}/plan.md`)).toBe(false);
    expect(await session.call('session.workspaces.listFiles')).toEqual({ files: ['a/b.txt'] });
  });

  test('are read and written by the tools of the model, under the names it was given', async () => {
    const { session, files } = await hosted([
      call('create', { path: `${root}/plan.md`, file_text: '1. Think\n' }),
      call('edit', { path: `${root}/plan.md`, old_str: 'Think', new_str: 'Act' }, 'c2'),
      call('view', { path: `${root}/plan.md` }, 'c3'),
      call('grep', { pattern: 'Act', path: `${root}/plan.md`, output_mode: 'content' }, 'c4'),
      call('grep', { pattern: 'Act', path: root, glob: '*.md' }, 'c5'),
      call('grep', { pattern: 'Act', path: `${root}/`, glob: '*.md', output_mode: 'count' }, 'c6'),
      call('glob', { pattern: 'plan.md', paths: root }, 'c7'),
      say('done'),
    ]);
    await session.sendAndWait('Plan it');
    const [created, edited, viewed, found, ...searches] = results(await session.getEvents());
    expect(created).toContain(`${root}/plan.md`);
    expect(edited).toContain(`${root}/plan.md`);
    expect(viewed).toBe('1. 1. Act\n2. ');
    expect(found).toBe(`${root}/plan.md:1. Act`);
    expect(searches).toEqual([`${root}/plan.md`, `${root}/plan.md:1`, `${root}/plan.md`]);
    expect(files.texts.get(`${root}/plan.md`)).toBe('1. Act\n');
  });

  test('are put back by a rewind, and what was cut off is gone from the lines of events', async () => {
    const replies = [
      call('create', { path: `${root}/files/a.txt`, file_text: 'one\n' }),
      say('made'),
      call('edit', { path: `${root}/files/a.txt`, old_str: 'one', new_str: 'two' }, 'c2'),
      call('create', { path: `${root}/files/b.txt`, file_text: 'new\n' }, 'c3'),
      say('changed'),
    ];
    const options = { onPermissionRequest: approveAll, enableFileChangeTracking: true };
    const { session } = await world.session(replies, options, shared);
    const files = filesOf(session.sessionId);
    await session.sendAndWait('Make');
    await session.sendAndWait('Change');
    expect(files.texts.get(`${root}/files/a.txt`)).toBe('two\n');
    const prompts = (await session.getEvents()).filter(({ type }) => type === 'user.message');
    const eventId = prompts[1]?.id ?? '';
    const rewind = (params: object) =>
      session.call('session.history.rewind', { eventId, ...params } as never);
    files.texts.set(`${root}/files/b.txt`, 'of the app\n');
    expect(await session.call('session.history.previewRewind', { eventId } as never)).toMatchObject({
      files: expect.arrayContaining([expect.objectContaining({ changedSince: true })]),
    });
    files.texts.set(`${root}/files/b.txt`, 'new\n');
    files.before = (name, path) => {
      if (name === 'writeFile' && path.endsWith('a.txt')) throw new Error('full');
    };
    expect(await rewind({ mode: 'conversation-and-files' })).not.toMatchObject({ outcome: 'success' });
    files.before = () => undefined;
    expect(await rewind({ mode: 'conversation-and-files' })).toMatchObject({ outcome: 'success' });
    expect(files.texts.get(`${root}/files/a.txt`)).toBe('one\n');
    expect(files.texts.has(`${root}/files/b.txt`)).toBe(false);
    await session.disconnect();
    const said = linesOf(files).flatMap((event) =>
      event.type === 'user.message' ? [event.data.content] : [],
    );
    expect(said).toEqual(['Make']);
  });

  test('take results that are too long, and the model reads them there', async () => {
    const long = 'x'.repeat(30_000);
    const tools = [{ name: 'big', description: 'Big', parameters: {}, handler: async () => long }];
    const model = world.script(call('big', {}), say('done'));
    const options = { ...providerOf(model), onPermissionRequest: approveAll, tools };
    const session = await shared.createSession(options);
    await session.sendAndWait('Go');
    const [text = ''] = results(await session.getEvents());
    const [path = ''] = /\/kept\/state\/temp\/\S+/.exec(text) ?? [];
    expect(filesOf(session.sessionId).texts.get(path)).toBe(long);
  });
});

describe('tables that an app keeps', () => {
  test('are what the model and the todo list work on', async () => {
    const query = `INSERT INTO todos(id, title) VALUES ('a', 'First'); BEGIN; UPDATE todos SET status = 'done';
      SELECT count(*) AS n FROM todos; COMMIT`;
    const { session, files } = await hosted([
      call('sql', { description: 'Plan', query }),
      call('sql', { description: 'Reach', query: "ATTACH 'x.db' AS x" }, 'c2'),
      call('sql', { description: 'Half', query: 'BEGIN; DELETE FROM todos' }, 'c3'),
      say('done'),
    ]);
    expect(await session.call('session.plan.readSqlTodos')).toEqual({ rows: [] });
    await session.sendAndWait('Go');
    const [done, attached, half] = results(await session.getEvents());
    expect(done).toContain('1 row(s) inserted');
    expect(done).toContain('| 1 |');
    expect(attached).toContain('ATTACH is not available');
    expect(half).toContain('nothing of it was done');
    expect(files.sqlite.statements.filter((each) => /INSERT|UPDATE|SELECT count|DELETE/.test(each))).toEqual([
      "run INSERT INTO todos(id, title) VALUES ('a'",
      "run UPDATE todos SET status = 'done';",
      'query SELECT count(*) AS n FROM todos;',
    ]);
    const { rows } = await session.call('session.plan.readSqlTodos');
    expect(rows).toMatchObject([{ id: 'a', title: 'First', status: 'done' }]);
  });

  test('stay with the runtime when the app does not keep them', async () => {
    const client = storing({ sqlite: false });
    const query = "INSERT INTO todos(id, title) VALUES ('a', 'First')";
    const { session, files } = await hosted([call('sql', { description: 'x', query }), say('done')], client);
    await session.sendAndWait('Go');
    expect(files.sqlite.statements).toEqual([]);
    expect((await session.call('session.plan.readSqlTodos')).rows).toMatchObject([{ id: 'a' }]);
    await client.stop();
  });
});

describe('an app that cannot store', () => {
  test('gets no session, and none is left', async () => {
    const sessionId = 'not-made';
    filesOf(sessionId).before = (what) => {
      if (what === 'mkdir') throw new Error('quota exceeded');
    };
    await expect(shared.createSession({ sessionId })).rejects.toThrow('quota exceeded');
    expect(await shared.getSessionMetadata(sessionId)).toBeUndefined();
  });

  test('fails what it was asked to store, and the session goes on', async () => {
    const { session, files } = await hosted([say('still here')]);
    files.before = (what) => {
      if (what === 'writeFile') throw new Error('quota exceeded');
    };
    await expect(session.call('session.plan.update', { content: 'x' })).rejects.toThrow('quota exceeded');
    expect((await session.sendAndWait('Hello'))?.data.content).toBe('still here');
    files.before = () => undefined;
    expect(await session.call('session.plan.read')).toMatchObject({ exists: false });
  });

  test('and never answers holds up no turn that needs none of its files', async () => {
    const { session, files } = await hosted([say('one'), say('two')]);
    await session.sendAndWait('First');
    const never = () => new Promise<never>(() => undefined);
    Object.assign(files, {
      writeFile: never,
      appendFile: never,
      readFile: never,
      stat: never,
      rename: never,
    });
    const events: string[] = [];
    session.on((event) => void events.push(event.type));
    const answer = await session.sendAndWait('Second');
    expect(answer?.data.content).toBe('two');
    expect(events.at(-1)).toBe('session.idle');
  });

  test('and answers nonsense or too much is refused, and the session goes on', async () => {
    const { session, files } = await hosted([
      call('view', { path: `${root}/files/a.txt` }),
      call('view', { path: `${root}/files` }, 'c2'),
      say('on'),
    ]);
    files.texts.set(`${root}/files/a.txt`, 'x'.repeat(64 * 1024 * 1024));
    const readdir = files.readdir.bind(files);
    files.readdir = async (path) => [
      ...(await readdir(path).catch(() => [])),
      { name: '../../../../escaped', type: 'file' as const },
      { name: '..', type: 'directory' as const },
      { name: 'a\0b', type: 'file' as const },
    ];
    const answer = await session.sendAndWait('Read');
    expect(answer?.data.content).toBe('on');
    const [read = '', listed = ''] = results(await session.getEvents());
    expect(read.length).toBeLessThan(1024 * 1024);
    expect(listed).not.toContain('escaped');
  });

  test('is missed by name when another one resumes its session', async () => {
    const first = storing();
    const { session, model } = await hosted([say('one'), say('two')], first);
    await session.sendAndWait('first');
    await first.stop();
    const other = world.newClient();
    const heard: SessionEvent[] = [];
    const resumed = await other.resumeSession(session.sessionId, {
      ...providerOf(model),
      onEvent: (event) => void heard.push(event),
    });
    expect((await resumed.sendAndWait('second'))?.data.content).toBe('two');
    expect(JSON.stringify(heard)).toContain('stored by a client that is not attached');
    await expect(resumed.call('session.plan.read')).rejects.toThrow(
      'No client is attached that stores the files',
    );
    await other.stop();
  });
});

test('a session that only the app still has goes on in another home, with what was said', async () => {
  const first = storing();
  const { session, model } = await hosted([say('one')], first);
  await session.sendAndWait('Remember the tree');
  await first.stop();
  const baseDirectory = join(world.home.path, 'another');
  const second = storing({}, { baseDirectory, env: { PATH: process.env.PATH, HOME: baseDirectory } });
  await expect(second.resumeSession('nowhere', providerOf(model))).rejects.toThrow('Session not found');
  const next = world.script(say('two'));
  const resumed = await second.resumeSession(session.sessionId, providerOf(next));
  expect((await resumed.sendAndWait('What?'))?.data.content).toBe('two');
  const said = JSON.stringify(next.requests[0]?.body.messages);
  expect(said).toContain('Remember the tree');
  await second.stop();
  const prompts = linesOf(filesOf(session.sessionId)).flatMap((event) =>
    event.type === 'user.message' ? [event.data.content] : [],
  );
  expect(prompts).toEqual(['Remember the tree', 'What?']);
});

describe('when files are stored is settled', () => {
  test('before sessions are open, and again by a client that comes back', async () => {
    const token = 'secret-1';
    const tcp = storing({}, { connection: RuntimeConnection.forTcp({ connectionToken: token }) });
    await tcp.start();
    const connect = (more: ClientOptions = {}) =>
      world.newClient({
        connection: RuntimeConnection.forUri(`localhost:${tcp.runtimePort}`, { connectionToken: token }),
        ...more,
      });
    const sessionFs = { sessionStatePath: root, open: filesOf };
    const { session } = await hosted([], tcp);
    const back = connect({ sessionFs });
    await back.start();
    await back.stop();
    await expect(
      connect({ sessionFs: { ...sessionFs, sessionStatePath: '/other' } }).start(),
    ).rejects.toThrow('before sessions are open');
    await session.disconnect();
    await tcp.stop();
  });

  test('and a working directory that this machine does not have is said to have no effect', async () => {
    const client = storing({ initialCwd: '/nowhere/at/all' });
    const { session } = await hosted([], client);
    expect(world.warnings.splice(0).join()).toContain("'initialCwd' has no effect: /nowhere/at/all");
    expect(session.workspacePath).toBe(root);
    await client.stop();
  });
});
