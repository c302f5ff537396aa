import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { connectTcp } from '@groundcrew/rpc';
import { temporaryDirectory, WireClient } from '@groundcrew/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';

const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));

/** Starts a runtime as apps do, says where it is, and lives until it is killed. */
const app = `
const { spawn } = require('node:child_process');
const [program, ...flags] = process.argv.slice(1);
const runtime = spawn(process.execPath, [program, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] });
runtime.stdout.once('data', (line) => console.log(runtime.pid + ' ' + /\\d+/.exec(line)[0]));
setInterval(() => undefined, 1e6);`;

let home: ReturnType<typeof temporaryDirectory>;
let apps: ChildProcess[];
let runtimes: number[];

beforeEach(() => {
  home = temporaryDirectory();
  apps = [];
  runtimes = [];
});

afterEach(() => {
  for (const child of apps) child.kill('SIGKILL');
  for (const pid of runtimes.filter(isThere)) process.kill(pid, 'SIGKILL');
  home.remove();
});

async function startApp(flags: readonly string[], patience: string) {
  const child = spawn(process.execPath, ['-e', app, program, ...flags], {
    env: {
      PATH: process.env.PATH,
      HOME: home.path,
      COPILOT_HOME: home.path,
      GROUNDCREW_TOKEN: 'token',
      GROUNDCREW_ORPHAN_TIMEOUT: patience,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  apps.push(child);
  const [line] = await once(child.stdout, 'data');
  const [pid = 0, port = 0] = String(line).trim().split(' ').map(Number);
  runtimes.push(pid);
  const client = async (params: object = {}) => {
    const wire = new WireClient(await connectTcp({ port }));
    await wire.call('connect', params);
    return wire;
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { pid, client, kill };
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Waits for the end of a process that is not our child: only polling shows it. */
async function ended(pid: number): Promise<void> {
  await expect.poll(() => isThere(pid), { timeout: 15_000, interval: 50 }).toBe(false);
}

test('a runtime on a port whose parent is gone ends when no client has come for the time', async () => {
  const [orphan, kept] = await Promise.all([startApp(['--headless'], '1'), startApp(['--headless'], '1')]);
  await orphan.kill();
  await ended(orphan.pid);
  // Its sibling has waited as long, and its parent lives.
  expect(await (await kept.client()).call('ping', {})).toMatchObject({ message: 'pong' });
});

test('a client keeps it; its sessions are closed when that is gone too', async () => {
  const { pid, client, kill } = await startApp(['--server', '--port', '0'], '1');
  const [first, second] = [await client(), await client()];
  const session = await first.create({ sessionId: 'kept' });
  await session.turn('Reply with exactly: one');
  await first.close();
  await kill();
  const other = await startApp(['--headless'], '1');
  await other.kill();
  await ended(other.pid); // as long as the first one would have taken, at least
  const again = await second.resume('kept');
  await again.turn('Reply with exactly: two');
  await second.close();
  await ended(pid);
  const next = await startApp(['--headless'], '30');
  const resumed = await (await next.client()).resume('kept');
  const types = (await resumed.stored()).map(({ type }) => type);
  expect(types.filter((type) => type === 'assistant.message')).toHaveLength(2);
});

test('a server that a user started stays', async () => {
  const served = await startApp(['serve'], '1');
  const orphan = await startApp(['--headless'], '1');
  await served.kill();
  await orphan.kill();
  await ended(orphan.pid);
  expect(await (await served.client({ token: 'token' })).call('ping', {})).toMatchObject({ message: 'pong' });
});
