import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { prompts } from '../outcomes/model.js';
import { durable, type Stage } from '../outcomes/stage.js';
import type { Order, Report } from './listeners.js';
import type { Figure } from './report.js';

const clients = 100;
const deltas = 10_000;
const notes = 1000;
const notesAtOnce = 25;
const peakSampling = 20;

/** One session, a hundred listeners, a long stream and a thousand notes at the same time. */
export async function crowd(stage: Stage, { sleepers = 0 } = {}): Promise<readonly Figure[]> {
  const process = stage.start({ home: stage.newHome(), door: 'port' });
  const audience = fork(fileURLToPath(new URL('./listeners.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  });
  const driver = await process.connect();
  const session = await driver.create(stage.settings({ tools: [] }));
  const { sessionId } = session;
  const params = { sessionId, disableResume: true, toolFilterPrecedence: 'excluded' };
  await ask(audience, { type: 'attach', port: await process.port(), clients, sleepers, params });
  const before = process.memory;
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memory);
  }, peakSampling);
  const began = performance.now();
  await session.send(prompts.stream(deltas));
  for (let sent = 0; sent < notes; sent += notesAtOnce)
    await Promise.all(
      Array.from({ length: notesAtOnce }, (_, index) =>
        session.call('session.log', { message: `note ${sent + index}` }),
      ),
    );
  await driver.until(() => session.events.findLast(({ type }) => type === 'session.idle'), 'idle');
  const last = durable(await session.stored()).at(-1);
  const report = await ask(audience, { type: 'finish', lastEventId: last?.id ?? '' });
  const seconds = (performance.now() - began) / 1000;
  clearInterval(sampler);
  const stored = (await session.stored()).map(({ id }) => id);
  audience.disconnect();
  await process.end();
  if (report.type !== 'finished') throw new Error('The listeners did not report');
  const name = sleepers > 0 ? `${clients} clients beside ${sleepers} that never read` : `${clients} clients`;
  const text = deltas * 'word '.length + 'Done.'.length;
  const isWhole =
    report.lists.length === 1 &&
    stored.slice(-(report.lists[0]?.length ?? 0)).join() === report.lists[0]?.join();
  return [
    {
      what: `${name}, ${deltas} deltas: durable events, the same to all in the same order`,
      figure: isWhole ? `${report.lists[0]?.length} of ${notes + 5}` : 'NO',
      isKept: isWhole && (report.lists[0]?.length ?? 0) >= notes,
    },
    {
      what: `${name}: the streamed text whole`,
      figure: report.sums.every((sum) => sum === text) ? 'yes' : 'NO',
      isKept: report.sums.every((sum) => sum === text),
    },
    {
      what: `${name}: events sent in a second, over all clients`,
      figure: (report.frames / seconds).toFixed(0),
    },
    { what: `${name}: megabytes sent in a second`, figure: (report.bytes / 1_048_576 / seconds).toFixed(0) },
    {
      what: `${name}: memory at its highest, over what it was before`,
      figure: `${(peak - before).toFixed(0)} MB`,
      isKept: peak - before < 150,
    },
  ];
}

async function ask(audience: ChildProcess, order: Order): Promise<Report> {
  audience.send(order);
  const [report] = (await once(audience, 'message')) as [Report];
  return report;
}
