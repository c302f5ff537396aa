import type { Rule, RuleModel } from '@groundcrew/testkit';
import { BenchRuntime } from './client.js';
import { timed, typical } from './statistics.js';
import type { Yardsticks } from './yardsticks.js';

/** One thing that is measured. */
export interface Measure {
  readonly name: string;
  readonly unit: 'ms' | 'MB' | 'KB';
  /** What the machine has to do for it, in yardsticks; memory has none, for it is the same on every machine. */
  readonly work: Partial<Yardsticks>;
  run(bench: Bench): Promise<number>;
}

/** What measures are taken with. */
export interface Bench {
  readonly model: RuleModel;
  readonly root: string;
}

const streamedChunks = 5000;
const manySessions = 50;
const residentSessions = 200;

/** The model of the bench: one tool round, a long stream, or a short answer. */
export const rule: Rule = (messages) => {
  const last = messages.findLastIndex(({ role }) => role === 'user');
  const said = messages.slice(last).filter(({ role }) => role === 'assistant').length;
  const text = JSON.stringify(messages[last]?.content);
  if (text.includes('tool') && said === 0)
    return { calls: [{ id: `call-${messages.length}`, name: 'echo', arguments: {} }] };
  if (text.includes('stream')) return { chunks: Array.from({ length: streamedChunks }, () => 'word ') };
  return { chunks: ['Yes.'] };
};

/** All measures, in the order of the table. */
export const measures: readonly Measure[] = [
  {
    name: 'start to first answer',
    unit: 'ms',
    work: { start: 1 },
    run: (bench) =>
      repeated(7, async () => {
        const began = performance.now();
        const runtime = new BenchRuntime(bench.model, bench);
        await runtime.connect();
        const milliseconds = performance.now() - began;
        await runtime.stop();
        return milliseconds;
      }),
  },
  {
    name: 'start to end of first turn',
    unit: 'ms',
    work: { start: 1, sync: 4, http: 2 },
    run: (bench) =>
      repeated(7, async () => {
        const began = performance.now();
        const runtime = new BenchRuntime(bench.model, bench);
        await runtime.turn(await runtime.create(), 'Hello');
        const milliseconds = performance.now() - began;
        await runtime.stop();
        return milliseconds;
      }),
  },
  {
    name: 'create a session',
    unit: 'ms',
    work: { sync: 1, json: 0.2 },
    run: (bench) => warm(bench, (runtime) => repeated(60, () => timed(() => runtime.create()))),
  },
  {
    name: 'a turn',
    unit: 'ms',
    work: { sync: 2, http: 1, json: 0.5 },
    run: (bench) =>
      warm(bench, async (runtime) => {
        const session = await runtime.create();
        return repeated(100, () => timed(() => runtime.turn(session, 'Hello')));
      }),
  },
  {
    name: 'a turn with a tool round',
    unit: 'ms',
    work: { sync: 4, http: 2, json: 1 },
    run: (bench) =>
      warm(bench, async (runtime) => {
        const session = await runtime.create();
        return repeated(60, () => timed(() => runtime.turn(session, 'Use a tool')));
      }),
  },
  {
    name: 'a thousand streamed chunks',
    unit: 'ms',
    work: { json: 6 },
    run: (bench) =>
      warm(bench, async (runtime) => {
        const session = await runtime.create();
        return repeated(5, async () => {
          const milliseconds = await timed(() => runtime.turn(session, 'Please stream'));
          return (milliseconds * 1000) / streamedChunks;
        });
      }),
  },
  {
    name: `a turn, ${manySessions} sessions at once`,
    unit: 'ms',
    work: { http: 1, json: 0.5 },
    run: (bench) =>
      warm(bench, async (runtime) => {
        const sessions = await Promise.all(Array.from({ length: manySessions }, () => runtime.create()));
        const all = () => Promise.all(sessions.map((session) => runtime.turn(session, 'Hello')));
        return repeated(6, async () => (await timed(all)) / manySessions);
      }),
  },
  {
    name: 'resume after 100 turns',
    unit: 'ms',
    work: { start: 0.25, sync: 2 },
    run: async (bench) => {
      const first = new BenchRuntime(bench.model, bench);
      const session = await first.create();
      for (let i = 0; i < 100; i++) await first.turn(session, 'Hello');
      await first.stop();
      return repeated(7, async () => {
        const runtime = new BenchRuntime(bench.model, { ...bench, home: first.home });
        await runtime.connect();
        const milliseconds = await timed(() => runtime.resume(session));
        await runtime.stop();
        return milliseconds;
      });
    },
  },
  {
    name: 'memory when idle',
    unit: 'MB',
    work: {},
    run: (bench) => warm(bench, async (runtime) => runtime.memory),
  },
  {
    name: 'memory of a session',
    unit: 'KB',
    work: {},
    run: (bench) =>
      warm(bench, async (runtime) => {
        for (let i = 0; i < 20; i++) await runtime.turn(await runtime.create(), 'Hello');
        const before = runtime.memory;
        for (let i = 0; i < residentSessions; i++) await runtime.turn(await runtime.create(), 'Hello');
        return ((runtime.memory - before) * 1024) / residentSessions;
      }),
  },
];

async function repeated(times: number, once: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let i = 0; i < times; i++) values.push(await once());
  return typical(values);
}

async function warm(bench: Bench, use: (runtime: BenchRuntime) => Promise<number>): Promise<number> {
  const runtime = new BenchRuntime(bench.model, bench);
  await runtime.connect();
  try {
    return await use(runtime);
  } finally {
    await runtime.stop();
  }
}
