import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { byExtent, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test, vi } from 'vitest';

const runtime = liveRuntime();
const count = byExtent({ short: 100, full: 300 });
/** On Node 20 the files of the last few databases wait for the next collection of garbage. */
const few = 8 * 3;
const configDir = (index: number) => join(runtime.home.path, `config-${index}`);

/** What the runtime has open in those directories. */
function openFiles(): readonly string[] {
  return readdirSync(`/proc/${runtime.process.pid}/fd`).flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/${runtime.process.pid}/fd/${name}`);
      return path.includes('/config-') ? [path] : [];
    } catch {
      return [];
    }
  });
}

test('of many configDirs whose sessions are open and idle, hardly more than the locks is open; of those without a session, hardly anything', async () => {
  const model = runtime.script(...Array.from({ length: 2 }, () => say('here')));
  const indexes = Array.from({ length: count }, (_, index) => index);
  const sessions = await Promise.all(
    indexes.map((index) => runtime.client.create({ ...providerOf(model), configDir: configDir(index) })),
  );
  const [first] = sessions;
  await first?.turn('Hello');
  const databases = () => openFiles().filter((path) => !path.endsWith('.lock'));
  await vi.waitFor(() => expect(databases().length).toBeLessThanOrEqual(few), { timeout: 60_000 });
  expect(openFiles().filter((path) => path.endsWith('.lock'))).toHaveLength(count);
  await Promise.all(sessions.map((session) => session.call('session.destroy')));
  await vi.waitFor(() => expect(openFiles().length).toBeLessThanOrEqual(few), { timeout: 60_000 });
  const again = await runtime.client.resume(first?.sessionId ?? '', {
    ...providerOf(model),
    configDir: configDir(0),
  });
  await again.turn('Are you there?');
  expect((await again.stored()).filter(({ type }) => type === 'user.message')).toHaveLength(2);
}, 240_000);
