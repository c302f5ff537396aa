import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** So long the guardian may take to end what a killed runtime had started. */
const patience = 3000;

/** Processes that a runtime on this home left behind for good; none are known where there is no `/proc`. */
export async function survivorsOf(home: string): Promise<readonly string[]> {
  const began = performance.now();
  for (;;) {
    const left = processesOf(home);
    if (left.length === 0 || performance.now() - began > patience) return left;
    await pause(20);
  }
}

/** The processes of a home now. Known by the home in their environment, which is of one run alone and which children inherit. */
export function processesOf(home: string): readonly string[] {
  const mark = `\0HOME=${home}\0`;
  return processIds()
    .filter((pid) => `\0${readProcess(pid, 'environ')}`.includes(mark))
    .map((pid) => `${pid} ${readProcess(pid, 'cmdline').replaceAll('\0', ' ')}`.trim());
}

function processIds(): readonly string[] {
  return process.platform === 'linux' ? readdirSync('/proc').filter((name) => /^\d+$/.test(name)) : [];
}

/** Empty when the process is gone or belongs to another user. */
function readProcess(pid: string, file: 'cmdline' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
