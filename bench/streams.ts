import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Figure, reportOf } from './budgets/report.js';
import { timed, typical } from './statistics.js';
import type { Order } from './streams/generator.js';
import { World, watchedSeconds } from './streams/world.js';

const usage = `Measures a runtime under many streams at once, and what a turn costs over a bare HTTP round trip.

  npm run bench:streams                      200 streams of 100 chunks a second, for each wire
  npm run bench:streams -- --streams N       other numbers of streams; may be repeated
  npm run bench:streams -- --wire NAME       completions, responses or anthropic; may be repeated
`;

const { values } = parseArgs({
  options: {
    streams: { type: 'string', multiple: true, default: ['200'] },
    wire: { type: 'string', multiple: true, default: ['completions', 'responses', 'anthropic'] },
    help: { type: 'boolean', default: false },
  },
});

const chunksPerSecond = 100;
const warmUpSeconds = 2;
const turns = 200;

if (values.help) process.stdout.write(usage);
else process.exitCode = (await main()) ? 0 : 1;
process.exit();

async function main(): Promise<boolean> {
  const figures: Figure[] = [];
  for (const wire of values.wire) {
    figures.push(await overhead(wire));
    for (const streams of values.streams) figures.push(...(await load(wire, Number(streams))));
  }
  console.log(reportOf(figures));
  return figures.every(({ isKept }) => isKept !== false);
}

/** Milliseconds of a turn beyond those of the same call made without a runtime. */
async function overhead(wire: string): Promise<Figure> {
  await using world = await World.open(wire);
  const sessionId = await world.create();
  const agent = new Agent({ keepAlive: true });
  const [turn, bare]: [number[], number[]] = [[], []];
  for (let i = 0; i < turns; i++) {
    turn.push(await timed(() => world.turn(sessionId)));
    bare.push(await timed(() => post(`${world.baseUrl}${world.path}`, agent)));
  }
  agent.destroy();
  const over = typical(turn) - typical(bare);
  return {
    what: `${wire}: a turn over a bare HTTP round trip (${typical(bare).toFixed(2)} ms), typical of ${turns}`,
    figure: `${over.toFixed(2)} ms`,
    isKept: over <= 3,
  };
}

/** The runtime's event loop while so many streams run. */
async function load(wire: string, streams: number): Promise<readonly Figure[]> {
  await using world = await World.open(wire);
  const sessions = await Promise.all(Array.from({ length: streams }, () => world.create()));
  const chunks = chunksPerSecond * (watchedSeconds + warmUpSeconds + 1);
  world.generator.send({ type: 'stream', streams, chunks, chunksPerSecond } satisfies Order);
  const running = world.next('running');
  const answered = Promise.all(sessions.map((sessionId) => world.turn(sessionId)));
  await running;
  const ended = world.next('ended');
  await pause(warmUpSeconds * 1000);
  const from = world.deltas;
  const { runtime: seen, sleeper } = await world.watch();
  const received = (world.deltas - from) / watchedSeconds;
  const { seconds } = await ended;
  await answered;
  const isWhole = world.deltas === streams * chunks;
  const name = `${wire}: ${streams} streams of ${chunksPerSecond} chunks/s`;
  const rate = ((streams * chunks) / seconds).toFixed(0);
  return [
    {
      what: `${name}: event-loop delay p99 over ${watchedSeconds} s`,
      figure: `${seen.p99.toFixed(1)} ms (p50 ${seen.p50.toFixed(1)}, highest ${seen.max.toFixed(1)}); of a process that does nothing ${sleeper.p99.toFixed(1)} ms`,
      isKept: seen.p99 <= 20,
    },
    {
      what: `${name}: chunks sent and heard in a second, processor time`,
      figure: `${rate} and ${received.toFixed(0)}, ${(seen.share * 100).toFixed(0)} % of a core`,
    },
    { what: `${name}: every chunk heard`, figure: isWhole ? 'yes' : 'NO', isKept: isWhole },
  ];
}

/** A call as small as calls are, read to its end. */
function post(url: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } });
    call.on('error', reject);
    call.on('response', (response) => response.resume().once('end', resolve));
    call.end('{"stream":true}');
  });
}
