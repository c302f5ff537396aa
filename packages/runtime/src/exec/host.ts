import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Child, Executor, ExitStatus, Launch } from './executor.js';

/** Runs children as the user's own processes: what the user may do, they may do. */
export const hostExecutor: Executor = { kind: 'host', start: startOnHost };

/** Starts a program as it is. */
export function startOnHost(launch: Launch): Child {
  const { program, parameters, workingDirectory, environment, stdio } = launch;
  const process = spawn(program, [...parameters], {
    cwd: workingDirectory,
    detached: true,
    env: { ...environment, PWD: workingDirectory },
    stdio: [...stdio],
  });
  return { pid: process.pid, process, ended: exitStatusOf(process) };
}

/** How a process ends. */
export function exitStatusOf(process: ChildProcess): Promise<ExitStatus> {
  return new Promise((resolve) => {
    process.once('exit', (code, signal) => {
      if (signal === null) resolve({ type: 'exited', exitCode: code ?? -1 });
      else resolve({ type: 'exited', exitCode: codeOf(signal), signal });
    });
    process.once('error', (error) => resolve({ type: 'failed', error }));
  });
}

/** As shells say it: 128 and the number of the signal. */
function codeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
