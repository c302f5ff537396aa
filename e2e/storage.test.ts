import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, copyFileSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stdioChannel } from '@groundcrew/rpc';
import { callTools, liveRuntime, providerOf, say, story, WireClient } from '@groundcrew/testkit';
import { afterEach, describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const tools = [{ name: 'look', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: {} });

/** Small disks are mounted in a namespace of their own, which not every machine allows. */
const canMount = spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt']).status === 0;

/** A runtime whose home is a disk of twelve megabytes that nobody else sees. */
class SmallDisk {
  readonly client: WireClient;
  private readonly child: ChildProcess;

  constructor(private readonly home: string) {
    mkdirSync(home);
    const script = 'mount -t tmpfs -o size=12m none "$0" && exec "$@"';
    this.child = spawn(
      'unshare',
      ['-rm', 'sh', '-c', script, home, process.execPath, program, '--headless', '--stdio'],
      { env: { PATH: process.env.PATH, COPILOT_HOME: home }, stdio: ['pipe', 'pipe', 'inherit'] },
    );
    const { stdin: output, stdout: input } = this.child;
    if (!output || !input) throw new Error('The process was started without pipes');
    this.client = new WireClient(stdioChannel({ input, output }));
  }

  /** The disk as the runtime sees it. */
  path(name: string): string {
    return join(`/proc/${this.child.pid}/root`, this.home, name);
  }

  fill(): void {
    const file = openSync(this.path('filler'), 'w');
    const block = Buffer.alloc(4096);
    try {
      for (;;) writeSync(file, block);
    } catch (error) {
      expect(error).toMatchObject({ code: 'ENOSPC' });
    } finally {
      closeSync(file);
    }
  }

  empty(): void {
    rmSync(this.path('filler'));
  }

  /** Puts a copy that cannot be written in the place of the disk. */
  protect(): void {
    this.inside('mount -t tmpfs none /mnt && cp -a "$0"/. /mnt && mount --bind /mnt "$0" && mount -o remount,bind,ro "$0"');
  }

  unprotect(): void {
    this.inside('umount -l "$0"');
  }

  private inside(script: string): void {
    const enter = ['-t', `${this.child.pid}`, '-U', '-m', '--preserve-credentials', 'sh', '-c', script, this.home];
    const { status, stderr } = spawnSync('nsenter', enter, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  }

  async close(): Promise<void> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }
}

describe.runIf(canMount)('a disk', () => {
  test('read-only', async () => {
    const disk = new SmallDisk(join(runtime.home.path, 'guarded'));
    const model = runtime.script(look, say('two'), say('three'), say('four'));
    const session = await disk.client.create({ ...providerOf(model), tools });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    disk.protect();
    console.log(await session.failure('session.tools.handlePendingToolCall', { requestId: data.requestId, result: 'x' }));
    await session.next('session.idle');
    console.log(story(session.events));
    console.log(await session.failure('session.send', { prompt: 'x' }));
    console.log(await session.failure('session.getMessages'));
    console.log(await disk.client.failure('session.create', providerOf(model)));
    disk.unprotect();
    console.log(story(await session.turn('Go on')));
    console.log(disk.client.examine());
    await disk.close();
  });
});
