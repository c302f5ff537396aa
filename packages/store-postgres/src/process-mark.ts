import { readFileSync, readlinkSync } from 'node:fs';

/** Names a process so that no other ever has the name: machine, boot, process space, number and time of its start. */
export type ProcessMark = string;

/** This process's mark; undefined where the system does not show it, and only the lease does. */
export function processMark(): ProcessMark | undefined {
  const { pid } = process;
  const space = processSpace();
  const start = space === undefined ? undefined : startOf(pid);
  return start === undefined ? undefined : `${space} ${pid} ${start}`;
}

/**
 * Whether the process of a mark is gone for certain: it ran here, where processes can be looked up, and is there no more. So
 * a runtime that is started again after a crash need not wait for the lease of its predecessor.
 */
export function isGone(mark: ProcessMark | null): boolean {
  const [, space, pid, start] = /^(.*) (\d+) (\d+)$/.exec(mark ?? '') ?? [];
  if (space === undefined || space !== processSpace()) return false;
  return startOf(Number(pid)) !== start;
}

function processSpace(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/** In ticks since boot; undefined for one that is dead, be it not yet waited for by its parent. */
function startOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? undefined : fields[19];
  } catch {
    return undefined;
  }
}
