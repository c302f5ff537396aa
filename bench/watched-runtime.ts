import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { stdioChannel } from '@groundcrew/rpc';
import { WireClient } from '@groundcrew/testkit';

const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const preload = fileURLToPath(new URL('./streams/loop-delay.cjs', import.meta.url));
/** How long one look takes. */
export const watchedSeconds = 5;

/** What a process says of itself. */
interface Seen {
  readonly p99: number;
  readonly live: number;
}

/** A process that says how its event loop fares, and what it keeps in memory. */
function watched(home: string, ...args: readonly string[]) {
  const file = join(home, 'seen.json');
  const child = spawn(process.execPath, ['--expose-gc', '--require', preload, ...args], {
    cwd: home,
    env: {
      PATH: process.env.PATH,
      HOME: home,
      COPILOT_HOME: home,
      LOOP_DELAY_FILE: file,
      LOOP_DELAY_SECONDS: String(watchedSeconds),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  return {
    child,
    watch: async () => {
      rmSync(file, { force: true });
      child.kill('SIGUSR2');
      while (!existsSync(file)) await pause(50);
      return JSON.parse(readFileSync(file, 'utf8')) as Seen;
    },
    close: async () => {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}

/** A runtime, and beside it a process that does nothing: what that sees is the machine's own delay. */
export async function openRuntime(root: string) {
  const home = mkdtempSync(join(root, 'home-'));
  const runtime = watched(home, program, '--headless', '--stdio');
  const { child } = runtime;
  const sleeper = watched(mkdtempSync(join(root, 'sleeper-')), '--eval', 'setInterval(() => undefined, 1e6)');
  const client = new WireClient(stdioChannel({ input: child.stdout, output: child.stdin }));
  return {
    client,
    home,
    pid: child.pid ?? 0,
    watch: async () => {
      const [own, machine] = await Promise.all([runtime.watch(), sleeper.watch()]);
      return { ...own, machine: machine.p99 };
    },
    close: () => Promise.all([runtime.close(), sleeper.close()]),
  };
}
