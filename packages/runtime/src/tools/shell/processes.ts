import { readdirSync, readFileSync } from 'node:fs';

/** Sends a signal to every process of these sessions and returns which sessions have any left. */
export function signalSessions(
  ids: ReadonlySet<number>,
  signal: NodeJS.Signals | 0,
  known: {
    /** Those whose first process is known to be gone: where one of that number runs, it is another one. */
    readonly leaderless: ReadonlySet<number>;
    readonly confined: ReadonlySet<number>;
  },
): ReadonlySet<number> {
  if (ids.size === 0) return ids;
  if (process.platform !== 'linux') return new Set([...ids].filter((id) => send(-id, signal)));
  const all = [...processes()];
  const { leaderless, confined } = known;
  const isOurs = ({ session, pid }: Process) => ids.has(session) && !(pid === session && confined.has(pid));
  const members = all.filter(isOurs);
  const foreign = new Set(members.map(({ pid }) => pid).filter((pid) => leaderless.has(pid)));
  const living = new Set<number>();
  for (const { pid, session } of members) {
    if (!foreign.has(session) && send(pid, signal)) living.add(session);
  }
  for (const id of ids)
    if (confined.has(id) && !leaderless.has(id) && signalSandbox(id, signal, all)) living.add(id);
  return living;
}

/** With the outer process of a sandbox the kernel ends all others; any other signal is for those within. */
function signalSandbox(id: number, signal: NodeJS.Signals | 0, all: readonly Process[]): boolean {
  const within = signal === 'SIGKILL' ? [] : insiders(id, all);
  if (within.length === 0) return send(id, signal);
  for (const pid of within) send(pid, signal);
  return true;
}

/** The outer process has one child, the first one within, which takes no signals; the rest descends from that. */
function insiders(id: number, all: readonly Process[]): readonly number[] {
  const childrenOf = (parents: readonly number[]) =>
    all.filter(({ parent }) => parents.includes(parent)).map(({ pid }) => pid);
  const found: number[] = [];
  let generation = childrenOf(childrenOf([id]));
  while (generation.length > 0) {
    found.push(...generation);
    generation = childrenOf(generation);
  }
  return found;
}

/** The variable by which what a command has started is known, wherever it went since. */
export const markVariable = 'GROUNDCREW_COMMAND';

/**
 * Sends a signal to every process that carries the mark, or one that begins so, and returns whether there were any.
 * A program that made itself a session of its own is found in no other way.
 */
export function signalMarked(mark: string, signal: NodeJS.Signals | 0): boolean {
  if (process.platform !== 'linux') return false;
  const marked = [...processes()].filter(({ pid }) => isMarked(readOf(`${pid}/environ`), mark));
  return marked.map(({ pid }) => send(pid, signal)).includes(true);
}

function isMarked(environment: string, mark: string): boolean {
  const text = `${markVariable}=${mark}`;
  const at = environment.indexOf(text);
  if (at < 0 || (at > 0 && environment[at - 1] !== '\0')) return false;
  const next = environment[at + text.length];
  return next === undefined || next === '\0' || next === '.';
}

/** False when no process is there any more. */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ESRCH') return false;
    if (error instanceof Error && 'code' in error && error.code === 'EPERM') return true;
    throw error;
  }
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly session: number;
}

/** All processes that run; those that ended and wait for their parents are left out. */
function* processes(): Iterable<Process> {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readOf(`${name}/stat`);
    const [state, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 4);
    if (state === 'Z' || state === 'X' || session === undefined) continue;
    yield { pid: Number(name), parent: Number(parent), session: Number(session) };
  }
}

function readOf(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'latin1');
  } catch {
    // It ended between the listing and the reading, or is another user's.
    return '';
  }
}
