import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import {
  byExtent,
  callTools,
  liveRuntime,
  providerOf,
  RuntimeProcess,
  type ScriptedReply,
  say,
  temporaryDirectory,
  WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { afterAll, describe, expect, test, vi } from 'vitest';

/** All that a runtime starts inherits this from its environment. */
const mark = randomUUID();
const temporary = temporaryDirectory();
const environment = { TMPDIR: temporary.path, LEAK_MARK: mark, GH_TOKEN: 'token-of-the-runtime' };
const runtime = liveRuntime({ flags: ['--stdio'], environment });
afterAll(() => temporary.remove());

/** Leaks are counted where the system lists its processes. */
const canCount = process.platform === 'linux';

interface Found {
  readonly pid: number;
  readonly parent: number;
  readonly state: string;
  readonly command: string;
}

/** The processes of this machine. */
function processes(): readonly Found[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    const stat = read(`/proc/${name}/stat`);
    const [state = '', parent = ''] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2);
    const command = read(`/proc/${name}/cmdline`).replaceAll('\0', ' ');
    return stat === '' ? [] : [{ pid: Number(name), parent: Number(parent), state, command }];
  });
}

/** Those that carry the mark, the runtime and this process aside. */
function strays(own: readonly number[]): readonly string[] {
  return processes()
    .filter(({ pid }) => pid !== process.pid && !own.includes(pid))
    .filter(({ pid }) => read(`/proc/${pid}/environ`).includes(mark))
    .map(({ command }) => command);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return ''; // it ended meanwhile
  }
}

/** What a runtime holds: its children by their state, its open files by kind, what it keeps in the temporary directory. */
function holdings(pid: number) {
  const children = processes().filter(({ parent }) => parent === pid);
  const files = readdirSync(`/proc/${pid}/fd`).map((fd) => kindOf(`/proc/${pid}/fd/${fd}`));
  return {
    zombies: children.filter(({ state }) => state === 'Z').length,
    children: children.filter(({ state }) => state !== 'Z').map(({ command }) => command.split(' ').at(-2)),
    pipes: files.filter((kind) => kind === 'pipe').length,
    files: files.filter((kind) => kind !== 'pipe' && kind !== '').length,
    temporary: readdirSync(temporary.path).length,
  };
}

function kindOf(path: string): string {
  try {
    const target = readlinkSync(path);
    return (
      /^(?:pipe|socket|anon_inode):/.exec(target)?.[0].slice(0, -1) ??
      (target.includes(temporary.path) ? 'pipe' : 'file')
    );
  } catch {
    return ''; // it was closed meanwhile
  }
}

const bash = (id: string, command: string, more: object = {}) => ({
  id,
  name: 'bash',
  arguments: { command, description: 'Work', ...more },
});

/** A session that may do everything, in a directory of its own. */
async function working(client: WireClient, name: string, ...replies: readonly ScriptedReply[]) {
  const workingDirectory = join(runtime.workingDirectory, name);
  mkdirSync(workingDirectory);
  const model = runtime.script(...replies);
  const session = await client.create({ ...providerOf(model), workingDirectory });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  return { session, workingDirectory };
}

const isUp = (directory: string) =>
  vi.waitFor(() => expect(existsSync(join(directory, 'up'))).toBe(true), { timeout: 10_000 });

/** Hard to end, each in its own way. */
const stubborn = [
  'sleep 1001 & (setsid sleep 1002 & wait) & ',
  'trap "" TERM; (trap "" TERM; while :; do sleep 1003; done) & ',
  '(sleep 1004 >&2 & exec sleep 1005) & ',
].join('');

/** Four turns of five rounds; enough for one leak of a hundred calls to show. */
const each = byExtent({ short: 15, full: 50 });

describe.runIf(canCount)(`after ${20 * each} calls`, () => {
  test('there is no zombie, no orphan, no open file and no temporary file more than after ten', async () => {
    const rounds = (count: number, size: number) =>
      Array.from({ length: count }, (_, round) =>
        callTools(
          ...Array.from({ length: size }, (_unused, index) =>
            bash(`c${round}-${index}`, index % 10 === 0 ? 'sleep 0.01 & echo $$ | cat' : 'true'),
          ),
        ),
      );
    const first = await working(runtime.client, 'ten', ...rounds(1, 10), say('done'));
    await first.session.turn('Go');
    await first.session.call('session.destroy');
    const { pid } = runtime.process;
    const before = holdings(pid);
    const turn = [...rounds(5, each), say('done')];
    const { session } = await working(runtime.client, 'many', ...turn, ...turn, ...turn, ...turn);
    const outcomes: unknown[] = [];
    for (let turns = 0; turns < 4; turns++) {
      for (const { type, data } of await session.turn('Go'))
        if (type === 'tool.execution_complete') outcomes.push((data as { success: boolean }).success);
    }
    expect(outcomes).toEqual(Array(20 * each).fill(true));
    await session.call('session.destroy');
    await vi.waitFor(() => expect(holdings(pid)).toEqual(before), { timeout: 5000 });
  }, 60_000);
});

describe.runIf(canCount)('nothing that a command has started is left', () => {
  const running = `${stubborn} touch up; sleep 1006`;

  async function started(client: WireClient, name: string, more: object = {}) {
    const { session, workingDirectory } = await working(
      client,
      name,
      callTools(bash('c1', running, more)),
      say('done'),
    );
    await session.send('Go');
    await isUp(workingDirectory);
    return session;
  }

  const guardianOf = (pid: number) =>
    processes().flatMap((each) =>
      each.parent === pid && each.command.includes('groundcrew-guardian') ? [each.pid] : [],
    );

  const ways: readonly [string, object, (session: WireSession) => Promise<unknown>][] = [
    ['an abort', {}, (session) => session.call('session.abort')],
    ['the end of the session', { mode: 'async' }, (session) => session.call('session.destroy')],
    ['the removal of the session', { mode: 'async' }, (session) => session.call('session.delete')],
  ];

  test.each(ways)('after %s', async (how, more, end) => {
    const session = await started(runtime.client, how.replaceAll(' ', '-'), more);
    await end(session);
    const { pid } = runtime.process;
    await vi.waitFor(() => expect(strays([pid, ...guardianOf(pid)])).toEqual([]), { timeout: 8000 });
  });

  test('after the time that a client gave it', async () => {
    const { session, workingDirectory } = await working(runtime.client, 'timeout');
    await session.call('session.shell.exec', { command: running, timeout: 500 });
    await isUp(workingDirectory);
    const { pid } = runtime.process;
    await vi.waitFor(() => expect(strays([pid, ...guardianOf(pid)])).toEqual([]), { timeout: 8000 });
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('after %s to the runtime', async (signal) => {
    const other = new RuntimeProcess({
      flags: ['--headless', '--stdio'],
      home: runtime.home.path,
      workingDirectory: runtime.workingDirectory,
      environment,
    });
    const client = new WireClient(await other.connect());
    await started(client, signal);
    const before = readdirSync(temporary.path).length;
    await other.signal(signal);
    const { pid } = runtime.process;
    await vi.waitFor(() => expect(strays([pid, ...guardianOf(pid)])).toEqual([]), { timeout: 8000 });
    await vi.waitFor(() => expect(readdirSync(temporary.path)).toHaveLength(before - 1), { timeout: 5000 });
  });
});

test('what was too long goes to a file, and the file goes with the session', async () => {
  const { session } = await working(runtime.client, 'spill', callTools(bash('c1', 'seq 20000')), say('done'));
  const events = await session.turn('Go');
  const received = JSON.stringify(events.find(({ type }) => type === 'tool.execution_complete')?.data);
  const path = /Saved to: (\S+?\.txt)/.exec(received)?.[1] ?? '';
  expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(20_000);
  expect(received).toContain('Preview (first 500 chars):\\n1\\n2\\n3');
  await session.call('session.delete');
  expect(existsSync(path)).toBe(false);
});

test('a file of a long result goes with the session from a directory of the app, too', async () => {
  const outputDir = join(runtime.workingDirectory, 'results');
  const model = runtime.script(callTools(bash('c1', 'seq 20000')), say('done'));
  const session = await runtime.client.create({ ...providerOf(model), largeOutput: { outputDir } });
  await session.call('session.permissions.setApproveAll', { enabled: true });
  await session.turn('Go');
  expect(readdirSync(outputDir)).toHaveLength(1);
  await session.call('session.delete');
  expect(readdirSync(outputDir)).toEqual([]);
});

test('a command sees nothing of the secrets of the runtime, and neither does the log', async () => {
  const secret = 'token-of-the-runtime';
  const other = new RuntimeProcess({
    flags: ['--headless', '--stdio', '--auth-token-env', 'MY_OWN_NAME'],
    home: runtime.home.path,
    workingDirectory: runtime.workingDirectory,
    environment: { ...environment, MY_OWN_NAME: secret, AZURE_OPENAI_API_KEY: secret },
  });
  const client = new WireClient(await other.connect());
  const { session } = await working(client, 'env', callTools(bash('c1', 'env')), say('done'));
  await session.turn('Go');
  const received = JSON.stringify(await session.stored());
  expect(received).toContain(`LEAK_MARK=${mark}`);
  expect(received).not.toContain(secret);
  await other.signal('SIGTERM');
});
