import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { typical } from '../statistics.js';
import { prompts } from './model.js';
import { comes, durable, found, isLastWord, type Stage } from './stage.js';
import type { SubjectProcess } from './subject.js';
import { type Finding, share, yesNo } from './table.js';

const sample = 50;
const resumes = 5;

/** One session of very many turns, killed at its end and taken up again. */
export async function longSession(
  stage: Stage,
  { turns }: { readonly turns: number },
): Promise<readonly Finding[]> {
  const home = stage.newHome();
  const process = stage.start({ home, door: 'stdio' });
  const client = await process.connect();
  const session = await client.create(stage.settings({ streaming: false }));
  const times: number[] = [];
  let early = 0;
  for (let turn = 0; turn < turns; turn++) {
    const began = performance.now();
    await session.send(prompts.hello);
    await session.next('session.idle');
    times.push(performance.now() - began);
    if (turn === sample) early = process.memory;
  }
  const late = process.memory;
  await process.kill();
  const received = durable(session.events);
  await process.end();
  const size = bytesIn(home);

  const samples: number[] = [];
  for (let round = 0; round < resumes; round++)
    samples.push((await takeUp(stage, home, session.sessionId)).resumed);
  const again = await takeUp(stage, home, session.sessionId);
  return [
    {
      what: `${turns} turns: the first ${sample} → the last ${sample}, each`,
      outcome: `${typical(times.slice(0, sample)).toFixed(1)} → ${typical(times.slice(-sample)).toFixed(1)} ms`,
    },
    {
      what: 'memory after the first of them → after the last',
      outcome: `${early.toFixed(0)} → ${late.toFixed(0)} MB`,
    },
    { what: 'on disk', outcome: `${(size / 1_048_576).toFixed(1)} MB` },
    {
      what: 'killed, and resumed by a new process: the answer to `session.resume`, best of 5',
      outcome: `${Math.min(...samples).toFixed(0)} ms`,
    },
    { what: 'memory of the new process', outcome: `${again.memory.toFixed(0)} MB` },
    { what: 'events sent, and found by it', outcome: share(found(received, again.stored), received.length) },
    { what: 'the next prompt answered', outcome: yesNo(again.isAnswered) },
  ];
}

async function takeUp(stage: Stage, home: string, sessionId: string) {
  const process: SubjectProcess = stage.start({ home, door: 'stdio' });
  const client = await process.connect();
  const began = performance.now();
  const session = await client.resume(sessionId, stage.settings({ streaming: false, disableResume: true }));
  const resumed = performance.now() - began;
  const { memory } = process;
  const stored = await session.stored();
  const isAnswered = await comes(
    session.send(prompts.hello).then(() => session.next('assistant.message', isLastWord)),
  );
  await process.end();
  return { resumed, memory, stored, isAnswered };
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
