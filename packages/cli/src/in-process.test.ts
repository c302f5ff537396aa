import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { providerOf, ScriptedApi, say, temporaryDirectory } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { openInProcess } from './in-process.js';

test('a runtime inside the app serves a session, closes it, and another one finds it', async () => {
  const home = temporaryDirectory();
  const api = await ScriptedApi.open();
  const options = { homeDirectory: home.path, workingDirectory: home.path, environment: {} };
  try {
    const first = await openInProcess(options);
    const session = await clientOf(first).createSession(providerOf(api.script(say('here'))));
    expect((await session.sendAndWait('Where are you?'))?.data.content).toBe('here');
    await Promise.all([first.close(), first.close()]);
    await expect(session.send('more')).rejects.toMatchObject({ kind: 'connection_lost' });

    const second = await openInProcess(options);
    const again = await clientOf(second).resumeSession(session.sessionId);
    expect((await again.getEvents()).map(({ type }) => type)).toContain('assistant.message');
    await second.close();
  } finally {
    await api.close();
    home.remove();
  }
});

test('the token of the app is taken before that of its environment, and none where none may be', async () => {
  const home = temporaryDirectory();
  const environment = { GH_TOKEN: 'ambient', GROUNDCREW_HOME: home.path };
  const statuses: unknown[] = [];
  for (const options of [{ gitHubToken: 'given' }, {}, { useLoggedInUser: false }]) {
    const runtime = await openInProcess({ environment, ...options });
    statuses.push((await clientOf(runtime).getAuthStatus()).authType);
    await runtime.close();
  }
  home.remove();
  expect(statuses).toEqual(['token', 'env', undefined]);
});

function clientOf(runtime: Awaited<ReturnType<typeof openInProcess>>): Client {
  return new Client({ connection: RuntimeConnection.forChannel(() => runtime.channel), reconnectTimeout: 0 });
}
