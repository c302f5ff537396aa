import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { describe, expect, test } from 'vitest';
import { cliWorld, type Program } from './program.js';

const world = cliWorld();

async function portOf(program: Program): Promise<number> {
  await program.says('\n');
  return Number(/^CLI server listening on port (\d+)\n$/.exec(program.stdout)?.[1]);
}

function clientOf(port: number, connectionToken?: string): Client {
  const options = connectionToken === undefined ? {} : { connectionToken };
  return new Client({ connection: RuntimeConnection.forUri(`127.0.0.1:${port}`, options) });
}

/** What a client that shows this token receives. */
async function ask(port: number, token?: string): Promise<string> {
  const client = clientOf(port, token);
  try {
    return (await client.ping('here')).message;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await client.forceStop();
  }
}

describe('a server that a user starts', () => {
  test('has a token even if the user named none, printed once; a client without it gets nothing', async () => {
    const server = world.start(['serve']);
    const port = await portOf(server);
    const token = /^Connection token: (\S{43})\n$/.exec(server.stderr)?.[1] ?? 'no token';
    expect([await ask(port), await ask(port, 'wrong'), await ask(port, token)]).toEqual([
      expect.stringMatching(/AUTHENTICATION_FAILED|[Aa]uthentication/),
      expect.stringMatching(/AUTHENTICATION_FAILED|[Aa]uthentication/),
      'pong: here',
    ]);
    server.child.kill('SIGINT');
    expect(await server.ended).toEqual({
      code: 0,
      stdout: `CLI server listening on port ${port}\n`,
      stderr: `Connection token: ${token}\n`,
    });
  });

  test('keeps sessions in the home of the commands', async () => {
    const server = world.start(['serve'], { environment: { GROUNDCREW_TOKEN: 'a secret of ours' } });
    const client = clientOf(await portOf(server), 'a secret of ours');
    const session = await client.createSession({ sessionId: 'served' });
    expect((await session.sendAndWait('What is 1+1?'))?.data.content).toBe('1+1 = 2');
    await client.stop();
    server.child.kill('SIGTERM');
    expect(await server.ended).toMatchObject({ code: 0, stderr: '' });
    expect((await world.run(['sessions', 'ls'])).stdout).toMatch(/^served {2}.* {2}What is 1\+1\?\n$/);
  });

  test('takes the token of a file before those of the environment, and makes the file', async () => {
    const file = join(world.homePath, 'token');
    const environment = { COPILOT_CONNECTION_TOKEN: 'environment' };
    const first = world.start(['serve', '--token-file', file], { environment });
    const port = await portOf(first);
    const made = readFileSync(file, 'utf8').trim();
    expect({
      mode: statSync(file).mode & 0o777,
      answer: await ask(port, made),
      stderr: first.stderr,
    }).toEqual({
      mode: 0o600,
      answer: 'pong: here',
      stderr: '',
    });
    first.child.kill('SIGTERM');
    await first.ended;

    writeFileSync(file, 'another\n');
    const second = world.start(['serve', '--token-file', file, '--port', String(port)], { environment });
    expect(await ask(await portOf(second), 'another')).toBe('pong: here');
    second.child.kill('SIGTERM');
    await second.ended;
  });

  test('says why it cannot start', async () => {
    const environment = { GROUNDCREW_TOKEN: 'a secret of ours' };
    const first = world.start(['serve'], { environment });
    const port = await portOf(first);
    const second = await world.run(['serve', '--port', String(port), '--log-level', 'none'], { environment });
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: `Failed to start server: Error: Address already in use (os error 98): port ${port}. Choose another, or leave --port out.\n`,
    });
    // A token for HTTP has no blanks.
    const forPages = { GROUNDCREW_TOKEN: 'a-token-of-ours' };
    const third = await world.run(['serve', '--http-port', String(port)], { environment: forPages });
    expect([third.code, third.stderr]).toEqual([
      1,
      `Failed to start server: Error: Address already in use (os error 98): port ${port}. Choose another, or leave --http-port out.\n`,
    ]);
    expect(await world.run(['serve', '--token-file', world.homePath])).toMatchObject({ code: 2, stdout: '' });
    first.child.kill('SIGTERM');
    await first.ended;
    expect(existsSync(join(world.homePath, 'groundcrew.db'))).toBe(false);
  });

  test.each([
    ['a space', 'a secret of ours'],
    ['letters that no header carries', 'пароль'],
    ['a line break', 'one\ntwo'],
  ])('refuses a token with %s where clients show it over HTTP, and does not repeat it', async (_, token) => {
    const environment = { GROUNDCREW_TOKEN: token };
    const refusal = {
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /^groundcrew: The token is shown in a header of HTTP, which carries printable ASCII characters/,
      ),
    };
    for (const args of [
      ['serve', '--http-port', '0'],
      ['inspect', '--connect', '1', '--no-open'],
    ]) {
      const ended = await world.run(args, { environment });
      expect(ended).toEqual(refusal);
      expect(ended.stderr).not.toContain(token);
    }
  });

  test('warns when it is opened to the network', async () => {
    const environment = { GROUNDCREW_TOKEN: 'a secret of ours' };
    const server = world.start(['serve', '--host', '0.0.0.0'], { environment });
    await portOf(server);
    expect(server.stderr).toBe(
      'Anyone who reaches 0.0.0.0 can try the token, and the traffic is not encrypted.\n',
    );
    server.child.kill('SIGTERM');
    await server.ended;
  });
});

describe('the page of a server that runs', () => {
  test('is opened by the address of its door and its token; what is wrong is said in a line', async () => {
    const environment = { GROUNDCREW_TOKEN: 'ours/and+ours' };
    const server = world.start(['serve', '--http-port', '0'], { environment });
    await server.says('HTTP door at');
    await server.says('\n');
    const [, url = '', port = ''] = /HTTP door at (http:\/\/127\.0\.0\.1:(\d+))/.exec(server.stdout) ?? [];
    const page = { code: 0, stdout: `Inspector at ${url}/#ours%2Fand%2Bours\n`, stderr: '' };
    for (const address of [port, `127.0.0.1:${port}`, url])
      expect(await world.run(['inspect', '--connect', address], { environment })).toEqual(page);
    const wire = /listening on port (\d+)/.exec(server.stdout)?.[1] ?? '';
    const refused = async (
      args: readonly string[],
      given: Readonly<Record<string, string>> = environment,
    ) => {
      const { code, stderr } = await world.run(['inspect', ...args], { environment: given });
      return [code, stderr.replaceAll(/:\d+/g, ':N')];
    };
    expect([
      await refused(['--connect', port], { GROUNDCREW_TOKEN: 'wrong' }),
      await refused(['--connect', port], {}),
      await refused(['--connect', wire]),
      await refused(['--connect', 'http://a/b']),
      await refused(['--connect', port, '--port', '1']),
      await refused(['--token-file', 'x']),
    ]).toEqual([
      [1, 'http://127.0.0.1:N does not know this token\n'],
      [2, expect.stringMatching(/^groundcrew: --connect needs the token of the server/)],
      [1, expect.stringMatching(/^No door over HTTP answers at .* A server opens one with --http-port\n$/)],
      [2, expect.stringMatching(/no address of a door over HTTP/)],
      [2, expect.stringMatching(/^groundcrew: With --connect the page is that of the server/)],
      [2, expect.stringMatching(/^groundcrew: --token-file has no effect without --connect/)],
    ]);
    server.child.kill('SIGTERM');
    await server.ended;
  });
});

describe('a conversation with a runtime that runs', () => {
  test('says what to give where the token is missing or wrong', async () => {
    const server = world.start(['serve'], { environment: { GROUNDCREW_TOKEN: 'the right one' } });
    const port = String(await portOf(server));
    const refused = async (environment: Readonly<Record<string, string>>) => {
      const ended = await world.run(['--plain', '--connect', port], { environment, input: 'Hello\n' });
      return [ended.code, ended.stderr];
    };
    expect([await refused({}), await refused({ GROUNDCREW_TOKEN: 'wrong' })]).toEqual([
      [
        1,
        `groundcrew: The runtime at ${port} asks for a token: name it by --token-file, or GROUNDCREW_TOKEN\n`,
      ],
      [
        1,
        `groundcrew: The runtime at ${port} does not know this token: --token-file or GROUNDCREW_TOKEN has to name that of the server\n`,
      ],
    ]);
    server.child.kill('SIGTERM');
    await server.ended;
  });
});

describe('groundcrew token', () => {
  test('says how a file of tokens is made where there is none', async () => {
    expect(await world.run(['token', 'ls', '--auth', 'none.json'])).toEqual({
      code: 2,
      stdout: '',
      stderr: 'groundcrew: There is no none.json: groundcrew token add --auth none.json makes it\n',
    });
  });

  test('makes no token that has expired already', async () => {
    const args = ['token', 'add', 'ci', '--tenant', 'acme', '--auth', 'tokens.json'];
    expect(await world.run([...args, '--expires', '2020-01-31T00:00:00Z'])).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'groundcrew: --expires: 2020-01-31T00:00:00Z is over: name a time to come, such as 2027-01-31T00:00:00Z\n',
    });
    expect(existsSync(join(world.workingDirectory, 'tokens.json'))).toBe(false);
  });
});
