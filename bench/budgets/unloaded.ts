import { setTimeout as pause } from 'node:timers/promises';
import { lookTool, prompts } from '../outcomes/model.js';
import type { Stage } from '../outcomes/stage.js';
import type { SubjectProcess } from '../outcomes/subject.js';
import type { Figure } from './report.js';

const atOnce = 50;
const watched = 10_000;
const budget = { kilobytes: 10, cpuShare: 0.002 };
const tools = [{ ...lookTool, skipPermission: true }];

/** How the sessions were left: after a turn, or in a turn that waits for an answer. */
type Left = 'idle' | 'waiting';

/** Very many sessions whose clients are gone. */
export async function unloaded(
  stage: Stage,
  { sessions, left }: { readonly sessions: number; readonly left: Left },
): Promise<readonly Figure[]> {
  const process = stage.start({ home: stage.newHome(), door: 'port' });
  await play(stage, process, { sessions: 500, left });
  const before = await settled(process);
  await play(stage, process, { sessions, left });
  const after = await settled(process);
  const busy = process.cpuSeconds;
  await pause(watched);
  const share = ((process.cpuSeconds - busy) * 1000) / watched;
  await process.end();
  const kilobytes = ((after - before) * 1024) / sessions;
  const name =
    left === 'idle' ? `${sessions} sessions unloaded` : `${sessions} unloaded with an open question`;
  return [
    {
      what: `${name}: memory of each`,
      figure: `${kilobytes.toFixed(1)} KB`,
      isKept: kilobytes <= budget.kilobytes,
    },
    { what: `${name}: CPU`, figure: `${(share * 100).toFixed(2)} %`, isKept: share <= budget.cpuShare },
  ];
}

async function play(
  stage: Stage,
  process: SubjectProcess,
  { sessions, left }: { readonly sessions: number; readonly left: Left },
): Promise<void> {
  for (let done = 0; done < sessions; done += atOnce) {
    const client = await process.connect();
    await Promise.all(
      Array.from({ length: atOnce }, async () => {
        const session = await client.create(stage.settings({ tools, streaming: false }));
        await session.send(left === 'idle' ? prompts.hello : prompts.look);
        await session.next(left === 'idle' ? 'session.idle' : 'external_tool.requested');
      }),
    );
    await client.close();
  }
}

/** Memory once it stops shrinking: what is garbage is not the sessions'. */
async function settled(process: SubjectProcess): Promise<number> {
  let memory = process.memory;
  for (;;) {
    await pause(2000);
    if (process.memory >= memory - 1) return process.memory;
    memory = process.memory;
  }
}
