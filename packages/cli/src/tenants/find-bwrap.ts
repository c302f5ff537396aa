import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import type { Environment } from '@groundcrew/models';
import { findExecutable, MachineSandbox } from '@groundcrew/runtime';

/** The system's bubblewrap. */
export interface Bwrap {
  readonly program: string;
  /** The kernel lets it filter system calls. */
  readonly filtersCalls: boolean;
}

/** The one that works here, or why there is none. */
export async function findBwrap({ PATH = '' }: Environment): Promise<Bwrap | { readonly problem: string }> {
  if (process.platform !== 'linux') return { problem: 'only Linux has it' };
  const places = PATH.split(delimiter).filter((place) => place.startsWith('/'));
  const program = findExecutable('bwrap', places);
  if (program === undefined) return { problem: 'bubblewrap is not installed' };
  const best = { program, filtersCalls: true };
  if ((await problemOf(best)) === undefined) return best;
  const box = { program, filtersCalls: false };
  const problem = await problemOf(box);
  return problem === undefined ? box : { problem };
}

/** Undefined where it makes a box. */
async function problemOf({ program, filtersCalls }: Bwrap): Promise<string | undefined> {
  const hardening = await MachineSandbox.hardenBox(['ignore', 'ignore', 'pipe'], { filtersCalls });
  const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'];
  const order = [...hardening.words, ...mounts, '--unshare-user-try', '--unshare-pid'];
  const { status, stderr } = spawnSync(program, [...order, '--', '/bin/sh', '-c', ':'], {
    encoding: 'utf8',
    env: {},
    stdio: hardening.stdio,
    timeout: 10_000,
  });
  hardening.close();
  if (status === 0) return undefined;
  return stderr?.trim() || 'bubblewrap cannot make namespaces here';
}
