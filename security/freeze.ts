import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { LiveRuntime } from '@groundcrew/testkit';
import type { Attack, AttackOptions } from './attack.js';
import { type FreezeCase, freezeCases } from './freeze-cases.js';

/** How long the neighbour's pings took while something else was done, in milliseconds. */
export interface Pings {
  readonly count: number;
  readonly p99: number;
  readonly worst: number;
}

/** What a neighbour may wait, 99 times of 100. */
export const longestPing = 50;

/**
 * Asks for the worst we know of, one thing after the other, while a neighbour pings the same runtime. A machine that others
 * use is slow at times, so a case that was too slow is tried again, three times in all; one that is always slow is a violation.
 */
export async function attackFreeze({ count, seed }: AttackOptions): Promise<Attack> {
  const cases = inOrder(freezeCases, seed).slice(0, count);
  const violations: string[] = [];
  const measured: string[] = [];
  await withFreezeWorld(async (world) => {
    for (const one of cases) {
      const pings = await world.tryOften(one);
      measured.push(`${one.name} ${pings.p99.toFixed(0)}/${pings.worst.toFixed(0)} ms`);
      if (pings.p99 > longestPing)
        violations.push(`${one.name}: p99 of the neighbour's ping was ${pings.p99.toFixed(0)} ms`);
    }
  });
  return { tried: cases.length, violations, measured: `p99/worst ping: ${measured.join(', ')}` };
}

/** Starts a runtime and a neighbour, and stops both. */
export async function withFreezeWorld(work: (world: FreezeWorld) => Promise<void>): Promise<void> {
  const world = new FreezeWorld();
  try {
    await world.open();
    await work(world);
  } finally {
    await world.close();
  }
}

/** A runtime on a port, and a neighbour who pings it from a process of its own. */
export class FreezeWorld {
  readonly runtime = new LiveRuntime({
    flags: ['--port', '0'],
    environment: { GROUNDCREW_FETCH_HOSTS: '127.0.0.1' },
  });
  private neighbour: ChildProcess | undefined;

  async open(): Promise<void> {
    await this.runtime.start();
    const program = fileURLToPath(new URL('neighbour.mjs', import.meta.url));
    this.neighbour = fork(program, [`${await this.runtime.process.port()}`, `${pace}`], { execArgv: [] });
    await once(this.neighbour, 'message');
  }

  /** The best of three tries. */
  async tryOften(one: FreezeCase): Promise<Pings> {
    let best: Pings | undefined;
    for (let tries = 0; tries < 3 && (best === undefined || best.p99 > longestPing); tries += 1) {
      const pings = await this.measure(one);
      if (best === undefined || pings.p99 < best.p99) best = pings;
    }
    if (best === undefined) throw new Error('nothing was measured');
    return best;
  }

  /** What the neighbour saw while the case was under way. */
  async measure(one: FreezeCase): Promise<Pings> {
    const act = await one.prepare(this.runtime);
    this.neighbour?.send('start');
    await act();
    this.neighbour?.send('stop');
    const [took] = (await once(this.neighbour as ChildProcess, 'message')) as [number[]]; // started by `open`
    const sorted = took.sort((one, other) => one - other);
    const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
    return { count: sorted.length, p99: at(0.99), worst: at(1) };
  }

  async close(): Promise<void> {
    this.neighbour?.disconnect();
    await this.runtime.stop();
  }
}

/** Milliseconds between two pings. */
const pace = 4;

/** The same seed gives the same order. */
function inOrder<T>(all: readonly T[], seed: number): readonly T[] {
  let state = seed;
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state;
  };
  return all
    .map((one) => ({ one, rank: next() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ one }) => one);
}
