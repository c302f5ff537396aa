import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stdioChannel } from '@groundcrew/rpc';
import {
  callTools,
  hold,
  liveRuntime,
  providerOf,
  say,
  story,
  WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const repository = fileURLToPath(new URL('..', import.meta.url));
const program = join(repository, 'packages/cli/bin/groundcrew.js');
const tools = [{ name: 'look', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: {} });

/** Disks are mounted in namespaces of their own, which not every machine allows. */
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

describe.runIf(canMount)('a disk that cannot be written (needs `unshare -rm`)', () => {
  test.concurrent.each([
    { what: 'is full', code: 'store_full', kind: 'full' },
    { what: 'is read-only', code: 'store_read_only', kind: 'read_only' },
  ] as const)(
    'because it $what fails the turn, keeps what was published, and work goes on after',
    async ({ code, kind }) => {
      const disk = startOnDisk(join(runtime.home.path, kind));
      const model = runtime.script(look, hold().reply, say('two'));
      const session = await disk.client.create({ ...providerOf(model), tools });
      await session.send('Look');
      const { data } = await session.next('external_tool.requested');
      const received = durable(session);
      const undo = kind === 'full' ? disk.fill() : disk.protect();

      const failure = { code: -32603, data: { code, retryable: true } };
      const { requestId } = data;
      const answer = await session.failure('session.tools.handlePendingToolCall', { requestId, result: 'x' });
      expect(answer).toMatchObject(failure);
      expect((await session.next('session.error')).data).toMatchObject({
        errorType: 'storage',
        errorCode: code,
      });
      await session.next('session.idle');
      expect(await session.failure('session.send', { prompt: 'Hello?' })).toMatchObject(failure);
      await session.next('session.idle');
      expect(await session.stored()).toEqual(received);
      expect(await disk.client.failure('session.create', providerOf(model))).toEqual({
        ...failure,
        message: expect.stringMatching(/^Request session\.create failed with message: .* and try again\.$/),
      });
      expect(disk.workspaces()).toEqual([session.sessionId]);
      expect(await session.failure('session.plan.update', { content: 'A plan' })).toMatchObject(failure);

      undo();
      expect(story(await session.turn('Go on'))).toEqual([
        'user.message "Go on" idle 0',
        'assistant.turn_start 0',
        'assistant.message "two"',
        'assistant.turn_end 0',
        'session.idle~',
      ]);
      expect((await session.stored()).slice(0, received.length)).toEqual(received);
      expect(durable(session)).toEqual(await session.stored());
      expect(disk.client.examine()).toEqual([]);
      await disk.close();
    },
  );
});

test.concurrent('a stopped process that holds the write lock is named to others, who may try again', async () => {
  const home = join(runtime.home.path, 'locked');
  mkdirSync(home);
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home }));
  const session = await client.create(providerOf(runtime.script(say('one'), say('two'))));
  await session.turn('Hello');
  const holder = await holdWriteLock(join(home, 'groundcrew.db'));
  const refused = session.failure('session.send', { prompt: 'Are you there?' });
  expect((await session.stored()).length).toBeGreaterThan(3);
  const name = process.platform === 'linux' ? `process ${holder.pid} on ${hostname()}` : 'another process';
  expect(await refused).toMatchObject({
    message: expect.stringContaining(`was locked by ${name} for 10 s; nothing was written. Try again.`),
    data: { code: 'store_busy', retryable: true },
  });
  await session.next('session.idle');
  await holder.release();
  expect(story(await session.turn('And now?')).at(-3)).toBe('assistant.message "two"');
});

test.concurrent('a session with a damaged record opens read-only: what lies before it can be read, the rest is refused by name', async () => {
  const home = join(runtime.home.path, 'damaged');
  mkdirSync(home);
  const model = runtime.script(say('first answer'), say('other answer'), look, say('still there'));
  const writer = runtime.spawn({ flags: ['--stdio'], home });
  const client = await runtime.connect(writer, { hasGaps: true });
  const broken = await client.create({ sessionId: 'broken', ...providerOf(model), tools });
  await broken.turn('Hello');
  await (await client.create({ sessionId: 'sound', ...providerOf(model) })).turn('Hello');
  await broken.send('Look');
  await broken.next('external_tool.requested');
  await writer.signal('SIGTERM');
  damage(join(home, 'groundcrew.db'), '"content":"first answer"');

  const before = ['session.start', 'user.message', 'system.message', 'assistant.turn_start'];
  const advice = /record \d+ is not what was written\)\. Run `groundcrew doctor`\.$/;
  const clients = await Promise.all(
    [1, 2].map(async () => runtime.connect(runtime.spawn({ flags: ['--stdio'], home }))),
  );
  for (const each of clients) {
    const opened = await each.resume('broken', { ...providerOf(model), tools, continuePendingWork: true });
    expect((await opened.next('session.warning')).data).toEqual({
      warningType: 'store_damaged',
      message: expect.stringMatching(advice),
    });
    expect((await opened.stored()).map(({ type }) => type)).toEqual(before);
    expect(await opened.failure('session.send', { prompt: 'Go on' })).toEqual({
      code: -32603,
      message: expect.stringMatching(advice),
      data: { code: 'store_damaged', retryable: false },
    });
    await opened.next('session.idle');
    expect(await opened.call('session.destroy')).toEqual({ success: true });
  }
  const [reader] = clients;
  const { sessions } = (await reader?.call<{ sessions: { sessionId: string }[] }>('session.list', {})) ?? {};
  expect(sessions?.map(({ sessionId }) => sessionId).sort()).toEqual(['broken', 'sound']);
  const sound = await reader?.resume('sound', providerOf(model));
  expect(story((await sound?.turn('Go on')) ?? [])).toContain('assistant.message "still there"');

  const exported = spawnSync(process.execPath, [program, 'sessions', 'export', 'broken'], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, GROUNDCREW_HOME: home },
  });
  expect([exported.status, exported.stderr]).toEqual([
    1,
    expect.stringContaining('Run `groundcrew doctor`.'),
  ]);
  const lines = exported.stdout.trim().split('\n');
  expect(lines.map((line) => JSON.parse(line).type)).toEqual(before);
});

test.concurrent('a session whose head cannot be read is listed and opened all the same, and its head is written anew', async () => {
  const home = join(runtime.home.path, 'headless');
  mkdirSync(home);
  const model = runtime.script(say('one'), say('two'), say('three'));
  const writer = runtime.spawn({ flags: ['--stdio'], home });
  const client = await runtime.connect(writer, { hasGaps: true });
  for (const sessionId of ['torn', 'whole'])
    await (await client.create({ sessionId, ...providerOf(model) })).turn('Hello');
  await writer.signal('SIGTERM');
  change(join(home, 'groundcrew.db'), "UPDATE session SET head = substr(head, 1, 40) WHERE id = 'torn'");

  const reader = runtime.spawn({ flags: ['--stdio'], home });
  const other = await runtime.connect(reader);
  const listed = async () => {
    const { sessions } = await other.call<{ sessions: { sessionId: string; summary?: string }[] }>(
      'session.list',
      {},
    );
    return Object.fromEntries(sessions.map(({ sessionId, summary }) => [sessionId, summary]));
  };
  expect(await listed()).toEqual({ torn: undefined, whole: 'Hello' });
  const torn = await other.resume('torn', providerOf(model));
  expect(story(await torn.turn('Go on'))).toContain('assistant.message "three"');
  expect(await listed()).toEqual({ torn: 'Hello', whole: 'Hello' });
  expect(reader.stderr).toContain('the head of session torn cannot be read');
});

/** A runtime whose home is a disk of twelve megabytes that no other process sees. */
function startOnDisk(home: string) {
  mkdirSync(home);
  const mount = 'mount -t tmpfs -o size=12m none "$0" && exec "$@"';
  const command = [process.execPath, program, '--headless', '--stdio'];
  const child = spawn('unshare', ['-rm', 'sh', '-c', mount, home, ...command], {
    env: { PATH: process.env.PATH, COPILOT_HOME: home },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const inside = (script: string) => {
    const enter = ['-t', `${child.pid}`, '-U', '-m', '--preserve-credentials', 'sh', '-c', script, home];
    expect(spawnSync('nsenter', enter, { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' });
  };
  return {
    client: new WireClient(stdioChannel({ input: child.stdout, output: child.stdin })),
    workspaces: () => readdirSync(join(`/proc/${child.pid}/root`, home, 'session-state')),
    fill: () => {
      const filler = join(`/proc/${child.pid}/root`, home, 'filler');
      writeUntilFull(filler);
      return () => rmSync(filler);
    },
    /** Puts a copy that cannot be written in the place of the disk. */
    protect: () => {
      inside('mount -t tmpfs none /mnt && cp -a "$0"/. /mnt && mount --bind /mnt "$0"');
      inside('mount -o remount,bind,ro "$0"');
      return () => inside('umount -l "$0"');
    },
    close: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

function writeUntilFull(file: string): void {
  const handle = openSync(file, 'w');
  const block = Buffer.alloc(4096);
  try {
    for (;;) writeSync(handle, block);
  } catch (error) {
    expect(error).toMatchObject({ code: 'ENOSPC' });
  } finally {
    closeSync(handle);
  }
}

/** Another process that begins to write and is stopped. */
async function holdWriteLock(file: string) {
  const code = `
    const { DatabaseSync } = process.getBuiltinModule?.('node:sqlite') ?? require('@groundcrew/sqlite-node20');
    new DatabaseSync(process.argv[1]).exec('BEGIN IMMEDIATE');
    console.log('held');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['-e', code, file], {
    cwd: repository,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGSTOP');
  const release = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { pid: child.pid, release };
}

/** Does to a store that no process has open what no Groundcrew would do. */
function change(file: string, sql: string): void {
  const code = `
    const { DatabaseSync } = process.getBuiltinModule?.('node:sqlite') ?? require('@groundcrew/sqlite-node20');
    new DatabaseSync(process.argv[1]).exec(process.argv[2]);`;
  const done = spawnSync(process.execPath, ['-e', code, file, sql], { cwd: repository, encoding: 'utf8' });
  expect([done.status, done.stderr]).toEqual([0, '']);
}

function damage(file: string, text: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  writeFileSync(file, bytes.fill('X', at + text.length - 3, at + text.length - 1));
}

function durable({ events }: WireSession) {
  return events.filter(({ ephemeral }) => !ephemeral);
}
