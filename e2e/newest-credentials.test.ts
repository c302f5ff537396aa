import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

test('hooks of files are found for users and projects, with what cannot be read', async () => {
  const { client, home } = runtime;
  const [project, broken] = ['project', 'broken'].map((name) => join(home.path, name));
  const command = { type: 'command', bash: 'true' };
  const hooksOf = (hooks: object) => JSON.stringify({ version: 1, hooks });
  mkdirSync(join(project ?? '', '.github', 'hooks'), { recursive: true });
  mkdirSync(broken ?? '');
  writeFileSync(join(home.path, 'hooks.json'), hooksOf({ sessionStart: [command] }));
  const file = join(project ?? '', '.github', 'hooks', 'a.json');
  writeFileSync(file, hooksOf({ preToolUse: [command, command] }));
  writeFileSync(join(broken ?? '', 'hooks.json'), '{');
  interface Found {
    readonly hooks: readonly { readonly id: string }[];
    readonly warnings: readonly string[];
    readonly errors: readonly string[];
  }
  const discover = (params: object) => client.call<Found>('hooks.discover', params);
  const user = { id: expect.any(String), hookType: 'sessionStart', origin: 'user', enabled: false };
  const source = `${join(home.path, 'hooks.json')}:1`;
  expect(await discover({})).toEqual({
    hooks: [{ ...user, source }],
    warnings: [expect.stringContaining('GROUNDCREW_FILE_HOOKS=1')],
    errors: [],
  });
  const ofProject = await discover({ projectPaths: [project, broken], excludeHostHooks: true });
  const row = { id: expect.any(String), hookType: 'preToolUse', origin: 'repository', enabled: false };
  expect(ofProject.hooks).toEqual([1, 2].map(() => ({ ...row, source: `${file}:1`, projectPath: project })));
  expect(new Set(ofProject.hooks.map(({ id }) => id)).size).toBe(2);
  expect(ofProject.errors).toEqual([expect.stringMatching(/broken: .*hooks\.json:1:2/)]);
  expect(await discover({ projectPaths: [project], excludeHostHooks: true })).toMatchObject({
    hooks: ofProject.hooks,
  });
  expect((await discover({ projectPaths: [project] })).hooks).toHaveLength(3);
});

test('a client gives the GitHub token of a session, and again when an hour or less of it is left', async () => {
  const { client } = runtime;
  const asked: unknown[] = [];
  let answer: object = { kind: 'token', accessToken: 'first', expiresIn: 3601 };
  client.answer = async (method, params) => {
    asked.push([method, params]);
    return answer;
  };
  const config = { gitHubTokenProviderRegistrationId: 'r1', model: 'groundcrew-offline' };
  const session = await client.create({ ...config, sessionId: 'granted' });
  const request = { registrationId: 'r1', host: 'https://github.com', sessionId: 'granted' };
  expect(asked).toEqual([['gitHubToken.getToken', { ...request, reason: 'initial' }]]);
  answer = { kind: 'token', accessToken: 'second', expiresIn: 7200 };
  await expect.poll(async () => (await session.turn('Hello')) && asked.length, { timeout: 20_000 }).toBe(2);
  expect(asked[1]).toEqual(['gitHubToken.getToken', { ...request, reason: 'refresh' }]);
  await session.turn('Hello again');
  expect(asked).toHaveLength(2);
  expect(JSON.stringify(await session.stored())).not.toContain('second');
});

test.each([
  ['a token for an hour', { kind: 'token', accessToken: 't', expiresIn: 3600 }, 'it lasts more than 3600'],
  ['another kind of token', { kind: 'token', accessToken: 't', tokenType: 'mac', expiresIn: 9999 }, "'mac'"],
  ['no token', { kind: 'cancelled' }, 'it was cancelled'],
  ['an error', new Error('no user'), 'no user'],
])('%s opens no session', async (_what, answer, reason) => {
  const { client } = runtime;
  client.answer = async () => {
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const sessionId = 'refused';
  const given = { sessionId, gitHubTokenProviderRegistrationId: 'r2' };
  await expect(client.create(given)).rejects.toThrow(reason);
  await expect(client.create({ ...given, gitHubToken: 'x' })).rejects.toThrow('exclude each other');
  expect(await client.call('session.getMetadata', { sessionId })).toEqual({});
});
