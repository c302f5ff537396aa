import type { WireSession } from '@groundcrew/testkit';
import { lookTool, prompts } from '../outcomes/model.js';
import { median, type Stage } from '../outcomes/stage.js';
import type { Figure } from './report.js';

const rounds = 15;
const budget = 300;
const tools = [{ ...lookTool, skipPermission: true }];

/** kill -9, another process on the same home, and the answer it takes to a question that the dead one had asked. */
export async function killToAnswer(stage: Stage): Promise<readonly Figure[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await once(stage));
  const best = Math.min(...times);
  return [
    {
      what: `kill -9 to an answered question in a new process: best of ${rounds}, and median`,
      figure: `${best.toFixed(0)} ms, ${median(times).toFixed(0)} ms`,
      isKept: best <= budget,
    },
  ];
}

async function once(stage: Stage): Promise<number> {
  const home = stage.newHome();
  const doomed = stage.start({ home, door: 'stdio' });
  const asking = await doomed.connect();
  const { sessionId, ...asked } = await questionIn(await asking.create(stage.settings({ tools })));
  const began = performance.now();
  await doomed.kill();
  const process = stage.start({ home, door: 'stdio' });
  const client = await process.connect();
  const session = await client.resume(sessionId, stage.settings({ tools, continuePendingWork: true }));
  const { success } = await session.answerTool(asked.requestId, { result: 'seen' });
  const milliseconds = performance.now() - began;
  if (!success) throw new Error('The answer was refused');
  await session.next('session.idle');
  await process.end();
  return milliseconds;
}

async function questionIn(session: WireSession) {
  await session.send(prompts.look);
  const { data } = await session.next('external_tool.requested');
  return { sessionId: session.sessionId, requestId: data.requestId };
}
