import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The processes that run with this text on their command line; those that have ended and wait for their parents too. */
export function processesWith(mark: string): readonly number[] {
  return processIds().filter((pid) => pid !== process.pid && read(`/proc/${pid}/cmdline`).includes(mark));
}

/** The children of this process, zombies among them. */
export function childrenOf(parent: number): readonly number[] {
  return processIds().filter((pid) => {
    const stat = read(`/proc/${pid}/stat`);
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
  });
}

/** What this process has open, by kind and name. */
export function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      return [readlinkSync(`/proc/self/fd/${name}`)];
    } catch {
      // The descriptor of the listing itself is closed by now.
      return [];
    }
  });
}

/** Memory of a process, in kilobytes. */
export function memoryOf(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]);
}

function processIds(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // The process ended meanwhile.
    return '';
  }
}
