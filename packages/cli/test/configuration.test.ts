import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();
const secret = 'a-key-that-nobody-may-see';

describe('settings', () => {
  test('come from flags, then the environment, then the file', async () => {
    const model = world.script(say('1'), say('2'), say('3'));
    world.configure({ model: 'of-the-file', provider: { baseUrl: model.baseUrl, apiKey: secret } });
    await world.run(['-p', 'Go']);
    await world.run(['-p', 'Go'], { environment: { GROUNDCREW_MODEL: 'of-the-environment' } });
    const environment = { GROUNDCREW_MODEL: 'of-the-environment', GROUNDCREW_API_KEY: 'another-key' };
    await world.run(['-p', 'Go', '--model', 'of-the-flag'], { environment });
    const asked = model.requests.map(({ body, headers }) => [body.model, headers.authorization]);
    expect(asked).toEqual([
      ['of-the-file', `Bearer ${secret}`],
      ['of-the-environment', `Bearer ${secret}`],
      ['of-the-flag', 'Bearer another-key'],
    ]);
  });

  test('a key of the file is not sent to a service that the environment names', async () => {
    const model = world.script(say('1'));
    world.configure({ provider: { baseUrl: 'http://127.0.0.1:9/v1', apiKey: secret } });
    await world.run(['-p', 'Go'], { environment: { GROUNDCREW_BASE_URL: model.baseUrl } });
    expect(model.requests.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test.each([
    ['{ "model": 7 }', 'model: expected a text, not 7'],
    ['{ "provider": { "apiKey": "x" } }', 'provider.baseUrl: missing'],
    [
      '{ "provider": { "baseUrl": "ftp://x" } }',
      'provider.baseUrl: expected an http or https address, not another text',
    ],
    [
      '{ "provider": { "baseUrl": "http://x", "headers": { "a": [] } } }',
      'provider.headers.a: expected a text, not a list',
    ],
    [
      '{ "allow": ["shell", "fun"] }',
      'allow[1]: needs all, or rules such as write or shell(git:*), of shell, write, read, mcp, url, memory, custom-tool, hook; not fun',
    ],
    ['{ "streaming": "yes" }', 'streaming: expected true or false, not another text'],
    [
      '{ "sessionIdleTimeout": 1.5 }',
      'sessionIdleTimeout: expected a whole number from 0 to 10000000, not 1.5',
    ],
    ['[]', 'the file: expected an object, not a list'],
    ['{\n  "model": oops\n}', 'no valid JSON: line 2, column 12'],
    ['{\n  // a remark\n}', 'no valid JSON: line 2, column 3'],
    ['{\n  "model": "x",\n}', 'no valid JSON: line 3, column 1'],
    ['{ "model":', 'no valid JSON: it ends too early'],
  ])('%s is refused with its place', async (config, reason) => {
    const path = world.configure(config);
    expect(await world.run(['-p', 'Hello'])).toEqual({
      code: 2,
      stdout: '',
      stderr: `groundcrew: ${path}: ${reason}\n`,
    });
  });

  test('an unknown field is a warning, and so is a key that others can read', async () => {
    const config = {
      $schema: 'x',
      colour: 'red',
      provider: { baseUrl: 'http://127.0.0.1:9', apiKey: secret, x: 1 },
    };
    const path = world.configure(config);
    chmodSync(path, 0o644);
    expect(await world.run(['sessions', 'ls'])).toEqual({
      code: 0,
      stdout: '',
      stderr: [
        `warning: ${path}: colour: unknown field, ignored`,
        `warning: ${path}: provider.x: unknown field, ignored`,
        `warning: ${path}: others can read the key in it; chmod 600 makes it yours alone`,
        '',
      ].join('\n'),
    });
  });

  test.each([
    [{ GROUNDCREW_API_KEY: 'x' }, 'GROUNDCREW_API_KEY has no service to go to: set GROUNDCREW_BASE_URL too'],
    [{ GROUNDCREW_BASE_URL: 'x' }, 'GROUNDCREW_BASE_URL needs an http or https address'],
    [{ GROUNDCREW_STREAMING: 'x' }, 'GROUNDCREW_STREAMING needs true or false, not x'],
    [{ GROUNDCREW_FILE_HOOKS: 'no' }, 'GROUNDCREW_FILE_HOOKS needs true or false, not no'],
    [{ GROUNDCREW_EXTENSIONS: 'no' }, 'GROUNDCREW_EXTENSIONS needs true or false, not no'],
    [
      { GROUNDCREW_RETRY_AFTER_LIMIT: 'x' },
      'GROUNDCREW_RETRY_AFTER_LIMIT needs a whole number from 0 to 10000000, not x',
    ],
    [
      { GROUNDCREW_LOG_LEVEL: 'x' },
      'GROUNDCREW_LOG_LEVEL needs one of none, error, warning, info, debug, all, not x',
    ],
  ])('%j is refused with its name', async (environment, reason) => {
    expect(await world.run(['-p', 'Hello'], { environment })).toEqual({
      code: 2,
      stdout: '',
      stderr: `groundcrew: ${reason}\n`,
    });
  });
});

interface Entry {
  readonly level: string;
  readonly message: string;
  readonly [field: string]: unknown;
}

function entriesOf(file: string): readonly Entry[] {
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Entry);
}

describe('diagnostics', () => {
  test('go to the file of GROUNDCREW_LOG, for its owner only and without secrets', async () => {
    const model = world.script(say('done'));
    world.configure({
      provider: { baseUrl: model.baseUrl, apiKey: secret, headers: { 'x-extra': 'extra-secret' } },
    });
    const file = join(world.homePath, 'log.jsonl');
    writeFileSync(file, '', { mode: 0o644 });
    const environment = { GROUNDCREW_LOG: file, GROUNDCREW_LOG_LEVEL: 'all', GH_TOKEN: 'token-of-github' };
    const { stderr } = await world.run(['-p', `My key is ${secret}, say hello`], { environment });
    const entries = entriesOf(file);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(entries[0]).toMatchObject({ level: 'info', message: 'started', pid: expect.any(Number) });
    expect(entries.flatMap(({ method, message }) => (message === 'sent' && method ? [method] : []))).toEqual([
      'connect',
      'session.create',
      'session.send',
      'session.destroy',
    ]);
    const all = readFileSync(file, 'utf8') + stderr;
    for (const hidden of [secret, 'extra-secret', 'token-of-github']) expect(all).not.toContain(hidden);
    expect(all).toContain('My key is [redacted], say hello');
  });

  test('of a headless program go to the file, and stderr stays for warnings', async () => {
    const file = join(world.homePath, 'log.jsonl');
    const environment = { GROUNDCREW_LOG: file, COPILOT_CONNECTION_TOKEN: secret };
    const flags = ['--headless', '--log-level', 'debug', '--banner'];
    const program = world.start(flags, { environment });
    await program.says('listening');
    program.child.kill('SIGTERM');
    expect(await program.ended).toMatchObject({
      code: 0,
      stderr: '--banner is accepted for compatibility and has no effect.\n',
    });
    expect(entriesOf(file).map(({ level, message }) => `${level} ${message}`)).toEqual([
      'info started',
      'warning --banner is accepted for compatibility and has no effect.',
      'info listening',
      'info ended',
    ]);
  });

  test('on stderr are what --log-level asks for', async () => {
    const quiet = await world.run(['--headless', '--stdio', '--banner', '--log-level', 'error']);
    expect(quiet).toEqual({ code: 0, stdout: '', stderr: '' });
    const { stderr } = await world.run(['-p', 'What is 1+1?', '--log-level', 'debug']);
    const lines = stderr.split('\n');
    expect(lines[0]).toMatch(/^info: started version=/);
    expect(lines).toContain('debug: sent peer=1 id=1 method=connect');
    const idle = lines.find((line) => line.endsWith('event=session.idle'));
    expect(idle).toMatch(
      /^debug: received peer=1 session=[\da-f-]{36} method=session\.event event=session\.idle$/,
    );
    const [, session] = /session=(\S+)/.exec(idle ?? '') ?? [];
    // The answer to a request is logged with what it answers.
    expect(lines).toContainEqual(
      expect.stringMatching(
        new RegExp(`^debug: received peer=1 session=${session} method=session\\.send id=`),
      ),
    );
  });

  test('that cannot be written do not stop the program', async () => {
    const file = join(world.homePath, 'missing', 'log');
    expect(await world.run(['-p', 'What is 1+1?'], { environment: { GROUNDCREW_LOG: file } })).toEqual({
      code: 0,
      stdout: '1+1 = 2\n',
      stderr: expect.stringMatching(/^warning: Cannot write the log .*ENOENT.*\n$/),
    });
  });
});
