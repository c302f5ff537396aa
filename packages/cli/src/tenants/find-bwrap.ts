import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '@groundcrew/models';

/** The system's bubblewrap, or why it cannot be used. */
export function findBwrap({
  PATH = '',
}: Environment): { readonly program: string; readonly problem?: undefined } | { readonly problem: string } {
  if (process.platform !== 'linux') return { problem: 'only Linux has it' };
  const program = PATH.split(delimiter)
    .filter((place) => place.startsWith('/'))
    .map((place) => join(place, 'bwrap'))
    .find(isProgram);
  if (program === undefined) return { problem: 'bubblewrap is not installed' };
  const order = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--proc',
    '/proc',
    '--unshare-user-try',
    '--unshare-pid',
  ];
  const { status, stderr } = spawnSync(program, [...order, '--', '/bin/sh', '-c', ':'], {
    encoding: 'utf8',
    env: {},
    timeout: 10_000,
  });
  return status === 0 ? { program } : { problem: stderr?.trim() || 'bubblewrap cannot make namespaces here' };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
