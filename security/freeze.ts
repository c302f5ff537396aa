import { setTimeout as pause } from 'node:timers/promises';
import { LiveRuntime } from '@groundcrew/testkit';
import type { Attack, AttackOptions } from './attack.js';
import type { FreezeCase } from './freeze-case.js';
import { freezeCases } from './freeze-cases.js';
import { Neighbour } from './neighbour.js';

/**
 * How long the neighbour's pings took while something else was done, in milliseconds. What the machine made either of them
 * wait for a processor is not counted, so that the figures are the runtime's own also where others use the machine.
 */
export interface Pings {
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
  const cases = inOrder(freezeCases(), seed).slice(0, count);
  const violations: string[] = [];
  const measured: string[] = [];
  await withFreezeWorld(async (world) => {
    for (const one of cases) {
      const pings = await world.tryOften(one);
      measured.push(`${one.name} ${pings.p99.toFixed(0)} ms`);
      if (pings.p99 > longestPing)
        violations.push(`${one.name}: p99 of the neighbour's ping was ${pings.p99.toFixed(0)} ms`);
    }
  });
  return { tried: cases.length, violations, measured: `p99 of the ping: ${measured.join(', ')}` };
}

/** Starts a runtime and a neighbour, and stops both. */
async function withFreezeWorld(work: (world: FreezeWorld) => Promise<void>): Promise<void> {
  const world = new FreezeWorld();
  try {
    await world.open();
    await work(world);
  } finally {
    await world.close();
  }
}

/** A runtime on a port with a neighbour who pings it. */
export class FreezeWorld {
  readonly runtime = new LiveRuntime({
    flags: ['--port', '0'],
    environment: { GROUNDCREW_FETCH_HOSTS: '127.0.0.1' },
  });
  private neighbour: Neighbour | undefined;

  async open(): Promise<void> {
    await this.runtime.start();
    const { process } = this.runtime;
    this.neighbour = await Neighbour.of(await process.port(), process.pid);
  }

  /** The best of three tries. */
  async tryOften(one: FreezeCase): Promise<Pings> {
    let best = await this.measure(one);
    for (let tries = 1; tries < 3 && best.p99 > longestPing; tries += 1) {
      const pings = await this.measure(one);
      if (pings.p99 < best.p99) best = pings;
    }
    return best;
  }

  /** What the neighbour saw while the case was under way. */
  async measure(one: FreezeCase): Promise<Pings> {
    const act = await one.prepare(this.runtime);
    this.neighbour?.start();
    const began = performance.now();
    await act();
    await pause(Math.max(100, shortestMeasure - (performance.now() - began)));
    const took = (await this.neighbour?.stop()) ?? [];
    return { p99: at(took, 0.99), worst: at(took, 1) };
  }

  async close(): Promise<void> {
    this.neighbour?.leave();
    await this.runtime.stop();
  }
}

/** Milliseconds: of fewer pings one alone would be one of a hundred. */
const shortestMeasure = 1000;

/** How long the fastest part of them took at most. */
function at(took: readonly number[], part: number): number {
  const sorted = [...took].sort((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}

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
