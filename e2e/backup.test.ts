import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { liveRuntime, providerOf, say, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));

/** What the command line says and how it ends. */
async function groundcrew(home: string, ...line: readonly string[]) {
  const child = spawn(process.execPath, [program, ...line], {
    env: { PATH: process.env.PATH, GROUNDCREW_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const [code] = await once(child, 'close');
  return { code, said };
}

test('a backup taken while turns run is a sound store, in which every session is as it was at one moment', async () => {
  const sessions = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const model = runtime.script(...Array(500).fill(say('answer')));
      return runtime.client.create(providerOf(model));
    }),
  );
  const stopping = new AbortController();
  const working = Promise.all(sessions.map((session) => talk(session, stopping.signal)));
  await Promise.all(sessions.map((session) => session.next('assistant.turn_end')));
  const copies = join(runtime.home.path, 'copies');
  mkdirSync(copies);
  const file = join(copies, 'groundcrew.db');
  const backup = await groundcrew(runtime.home.path, 'backup', file);
  const turns = sessions.map(({ events }) => events.length);
  stopping.abort();
  await working;
  expect(backup).toEqual({ code: 0, said: expect.stringMatching(/8 sessions, \d+ records\n$/) });
  expect(
    Math.min(...sessions.map(({ events }, index) => events.length - (turns[index] ?? 0))),
  ).toBeGreaterThan(0);

  expect(await groundcrew(copies, 'doctor')).toMatchObject({ code: 0 });
  for (const session of sessions) {
    const { said } = await groundcrew(copies, 'sessions', 'export', session.sessionId);
    const copied = said.trim().split('\n');
    expect(copied.length).toBeGreaterThan(4);
    const stored = (await session.stored()).map((event) => JSON.stringify(event));
    expect(stored.slice(0, copied.length)).toEqual(copied);
  }
});

/** Turn after turn. */
async function talk(session: WireSession, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await session.send('Hello');
    await session.next('session.idle');
  }
}
