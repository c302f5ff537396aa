import { setTimeout as wait } from 'node:timers/promises';
import type { Guardian } from './guardian.js';
import { signalMarked, signalSessions } from './processes.js';

/**
 * The process sessions that commands run in, from their start until no process is left in them. A command may end before
 * what it left running does: its session stays here, and so within reach of `end`.
 */
export class ProcessSessions {
  private readonly living = new Map<number, object>();
  /** Sandboxes: their first process is the outer one, and all others descend from it. */
  readonly confined = new Set<number>();
  /** Their first process is gone; whether all of them are is looked up later, for many at once. */
  readonly leaderless = new Set<number>();
  private sweeper: NodeJS.Timeout | undefined;

  constructor(private readonly guardian: Guardian) {}

  add(id: number, owner: object, how: { readonly isConfined: boolean }): void {
    this.living.set(id, owner);
    if (how.isConfined) this.confined.add(id);
    this.guardian.watch(id, how);
  }

  /** The first process has ended: the id is free for others as soon as the rest has. */
  leaderEnded(id: number): void {
    if (!this.living.has(id)) return;
    this.leaderless.add(id);
    this.sweepIn(firstSweep);
  }

  /** Ends every process of these sessions, and all that carry the mark: asks first, then insists. False when some cannot be ended. */
  async end(ids: Iterable<number>, mark: string): Promise<boolean> {
    let left = this.reachable(new Set(ids), 'SIGTERM');
    let hasStrays = signalMarked(mark, 'SIGTERM');
    const insistAt = performance.now() + graceMilliseconds;
    const giveUpAt = insistAt + killMilliseconds;
    for (
      let pause = 2;
      (left.size > 0 || hasStrays) && performance.now() < giveUpAt;
      pause = Math.min(pause * 2, longestPause)
    ) {
      await wait(pause);
      const signal = performance.now() < insistAt ? 0 : 'SIGKILL';
      left = this.reachable(left, signal);
      hasStrays &&= signalMarked(mark, signal);
    }
    return left.size === 0 && !hasStrays;
  }

  /** False when no process is left in the session. */
  signal(id: number, signal: NodeJS.Signals): boolean {
    return this.reachable(new Set([id]), signal).size > 0;
  }

  endAllOf(owner: object, mark: string): Promise<boolean> {
    return this.end(
      [...this.living].filter(([, each]) => each === owner).map(([id]) => id),
      mark,
    );
  }

  async close(mark: string): Promise<void> {
    clearTimeout(this.sweeper);
    this.sweeper = undefined;
    await this.end(this.living.keys(), mark);
  }

  /** Signals those of the sessions that are still ours. */
  private reachable(ids: ReadonlySet<number>, signal: NodeJS.Signals | 0): ReadonlySet<number> {
    const ours = new Set([...ids].filter((id) => this.living.has(id)));
    const left = signalSessions(ours, signal, this);
    for (const id of ours) if (!left.has(id)) this.remove(id);
    return left;
  }

  private remove(id: number): void {
    this.living.delete(id);
    this.leaderless.delete(id);
    this.confined.delete(id);
    this.guardian.release(id);
  }

  private sweepIn(milliseconds: number): void {
    this.sweeper ??= setTimeout(() => {
      this.sweeper = undefined;
      this.reachable(new Set(this.leaderless), 0);
      if (this.leaderless.size > 0) this.sweepIn(Math.min(milliseconds * 2, lastSweep));
    }, milliseconds).unref();
  }
}

/** How long a command may take to end after it was asked to. */
const graceMilliseconds = 1000;
/** What SIGKILL does not end by then waits for a disk, or belongs to another user. */
const killMilliseconds = 3000;
const longestPause = 50;
const firstSweep = 1000;
const lastSweep = 30_000;
