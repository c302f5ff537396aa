import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { answer, hangUp, hold, refuse, type ScriptedModel, say, streamChunks } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();
const service = (baseUrl: string) => ({ GROUNDCREW_BASE_URL: baseUrl, GROUNDCREW_MODEL: 'scripted' });

describe('one prompt', () => {
  test('is answered on stdout, and nothing else is said', async () => {
    expect(await world.run(['-p', 'What is 1+1?'])).toEqual({ code: 0, stdout: '1+1 = 2\n', stderr: '' });
  });

  test('shows what is said before the turn is over', async () => {
    const held = hold(say('second'));
    const model = world.script(
      answer({ chunks: ['fir', 'st'], calls: [{ id: 'c1', name: 'missing', arguments: {} }] }),
      held.reply,
    );
    const run = world.start(['-p', 'Go'], { environment: service(model.baseUrl) });
    await run.says('first\n');
    await model.asked(2);
    expect(run.stdout).toBe('first\n');
    held.release();
    expect(await run.ended).toMatchObject({ code: 0, stdout: 'first\nsecond\n' });
  });

  test('whose answer breaks off is written once on a pipe', async () => {
    const model = world.script(hangUp('one ', 'two '), streamChunks('one ', 'two ', 'three'));
    const { code, stdout, stderr } = await world.run(['-p', 'Count'], {
      environment: service(model.baseUrl),
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'one two three\n' });
    expect(stderr).toContain('Trying again');
  });

  test('goes on with the session that was last, or with the one whose id begins so', async () => {
    await world.run(['-p', 'What is 1+1?', '--session-id', 'sums-of-today']);
    const double = 'Now if you double that, what do you get?';
    expect(await world.run(['-p', double, '--resume', 'last'])).toMatchObject({
      code: 0,
      stdout: '2 * 2 = 4\n',
    });
    expect(await world.run(['--resume', 'sums', '-p', double])).toMatchObject({
      code: 0,
      stdout: '4 * 2 = 8\n',
    });
    expect(await world.run(['-p', double, '--resume', 'other'])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'groundcrew: There is no session other\n',
    });
  });

  test('takes model, instructions and directory from its flags', async () => {
    const model = world.script(say('done'));
    const flags = ['--model', 'special', '--system', 'Mind the gap.', '--cwd', '..', '--no-streaming'];
    const { stdout } = await world.run(['-p', 'Go', ...flags], { environment: service(model.baseUrl) });
    const { body } = await model.asked(1);
    expect({ stdout, model: body.model, stream: body.stream ?? false }).toEqual({
      stdout: 'done\n',
      model: 'special',
      stream: false,
    });
    const system = JSON.stringify(body.messages[0]);
    expect(system).toContain('Mind the gap.');
    expect(system).toContain(world.home.path);
    expect(system).not.toContain(world.workingDirectory);
  });
});

describe('stdin', () => {
  test('is added to the prompt', async () => {
    const model = world.script(say('short'));
    await world.run(['-p', 'Summarise:'], { environment: service(model.baseUrl), input: 'a long\ntext\n' });
    expect(JSON.stringify((await model.asked(1)).body.messages)).toContain('Summarise:\\n\\na long\\ntext');
  });

  test('is the prompt when that is -', async () => {
    expect(await world.run(['-p', '-'], { input: 'What is 20+22?' })).toEqual({
      code: 0,
      stdout: '20+22 = 42\n',
      stderr: '',
    });
  });

  test('that stays open without a word holds nothing up', async () => {
    const run = world.start(['-p', 'What is 1+1?'], { staysOpen: true });
    expect(await run.ended).toEqual({ code: 0, stdout: '1+1 = 2\n', stderr: '' });
  });

  test('with nothing in it is no prompt', async () => {
    expect(await world.run(['-p', '-'], { input: ' \n' })).toEqual({
      code: 2,
      stdout: '',
      stderr: 'groundcrew: -p needs a prompt that says something\n',
    });
  });
});

test('--json prints every event as a line, and nothing else', async () => {
  const { code, stdout, stderr } = await world.run(['-p', 'What is 1+1?', '--json', '--session-id', 'j']);
  const lines = stdout.trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line) as { type: string; data: Record<string, unknown> });
  expect({ code, stderr, first: events[0]?.type, last: events.at(-1)?.type }).toEqual({
    code: 0,
    stderr: '',
    first: 'session.start',
    last: 'session.shutdown',
  });
  const deltas = events.flatMap(({ type, data }) =>
    type === 'assistant.message_delta' ? [data.deltaContent] : [],
  );
  expect(deltas).toEqual(['1+1', ' =', ' 2']);
  expect(events.filter(({ type }) => type === 'assistant.message').map(({ data }) => data.content)).toEqual([
    '1+1 = 2',
  ]);
});

describe('tools', () => {
  const prompt = `Write 'hello' to notes.txt`;
  const notes = () => join(world.workingDirectory, 'notes.txt');

  test('that nothing allows are denied, and both model and user learn of it', async () => {
    expect(await world.run(['-p', prompt])).toEqual({
      code: 0,
      stdout: 'The call of create was denied: Permission denied and could not request permission from user\n',
      stderr: [
        '› create {"path":"notes.txt","file_text":"hello"}',
        `denied: write ${notes()} (--allow write would permit it)`,
        '  failed: Permission denied and could not request permission from user',
        '',
      ].join('\n'),
    });
    expect(existsSync(notes())).toBe(false);
  });

  test.each([
    ['--allow-all', {}],
    ['--allow=read,write', {}],
    ['--no-streaming', { GROUNDCREW_ALLOW: 'write' }],
  ])('run when %s %j says so', async (flag, environment) => {
    const { code, stdout } = await world.run(['-p', prompt, flag], { environment });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `Created file ${notes()} with 5 characters\n` });
    expect(readFileSync(notes(), 'utf8')).toBe('hello');
    rmSync(notes());
  });

  test('that all may run are meant for the sandbox, also where the settings say what it shows and name no executor', async () => {
    world.configure({ sandbox: { writablePaths: ['/srv'] } });
    const { code, stdout, stderr } = await world.run(
      ['-p', "Use the tool bash with command 'echo ran'", '--allow-all'],
      { environment: { GROUNDCREW_BWRAP: '/missing/bwrap' } },
    );
    world.configure({});
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'ran\n' });
    expect(stderr).toContain('Commands run without a sandbox: ');
  });
});

describe('an end that is no answer', () => {
  test('a failed session is code 1 with its reason', async () => {
    const model = world.script(refuse(400, 'I do not like this'));
    const { code, stdout, stderr } = await world.run(['-p', 'Go'], { environment: service(model.baseUrl) });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^groundcrew: .*I do not like this.*\n$/);
  });

  const refused = (model: ScriptedModel, check: string) =>
    `groundcrew: The model service at ${model.baseUrl} refused the request (401): Wrong key ***. Check ${check}.\n`;

  test.each([
    ['GROUNDCREW_API_KEY', (url: string) => ({ ...service(url), GROUNDCREW_API_KEY: 'sk-wrong' })],
    ['OPENAI_API_KEY', (url: string) => ({ OPENAI_BASE_URL: url, OPENAI_API_KEY: 'sk-wrong' })],
    ['GH_TOKEN', (url: string) => ({ COPILOT_API_URL: url, GH_TOKEN: 'sk-wrong' })],
  ])(
    'a refused key of %s is named, with the address and the reason, and not tried again',
    async (name, set) => {
      const model = world.script(refuse(401, 'Wrong key sk-wrong.'));
      const { code, stderr } = await world.run(['-p', 'Go'], { environment: set(model.baseUrl) });
      expect({ code, stderr, calls: model.requests.length }).toEqual({
        code: 1,
        stderr: refused(model, name),
        calls: 1,
      });
    },
  );

  test('a refused key of config.json is named by its field', async () => {
    const model = world.script(refuse(401, 'Wrong key sk-wrong.'));
    world.configure({ model: 'm', provider: { baseUrl: model.baseUrl, apiKey: 'sk-wrong' } });
    expect((await world.run(['-p', 'Go'])).stderr).toBe(refused(model, 'provider.apiKey'));
  });

  test('a service that wants a key and gets none causes an error that says so', async () => {
    const model = world.script(refuse(401, 'Who are you?'));
    const { stderr } = await world.run(['-p', 'Go'], { environment: service(model.baseUrl) });
    expect(stderr).toBe(
      `groundcrew: The model service at ${model.baseUrl} refused the request (401): Who are you?. No key was sent: set provider.apiKey or GROUNDCREW_API_KEY.\n`,
    );
  });

  test('where no variable says the address, the error leads to the page that names them', async () => {
    const model = world.script(refuse(401, 'Who are you?'));
    world.configure({ model: 'm', provider: { baseUrl: model.baseUrl } });
    expect((await world.run(['-p', 'Go'])).stderr).toBe(
      `groundcrew: The model service at ${model.baseUrl} refused the request (401): Who are you?. No key was sent: set provider.apiKey, or the variable of the service (docs/models.md).\n`,
    );
  });

  test.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('%s stops the turn with code %i', async (signal, code) => {
    const held = hold();
    const model = world.script(held.reply);
    const run = world.start(['-p', 'Go'], { environment: service(model.baseUrl) });
    await model.asked(1);
    run.child.kill(signal);
    expect(await run.ended).toEqual({ code, stdout: '', stderr: `groundcrew: Stopped by ${signal}\n` });
    held.release();
    const { stdout } = await world.run(['sessions', 'export', 'last']);
    const types = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as { type: string }).type);
    expect(types).toContain('abort');
    expect(types.at(-1)).toBe('session.shutdown');
  });

  test('a time limit stops the turn with code 1', async () => {
    const held = hold();
    const model = world.script(held.reply);
    const run = world.run(['-p', 'Go', '--timeout', '1'], { environment: service(model.baseUrl) });
    expect(await run).toEqual({
      code: 1,
      stdout: '',
      stderr: 'groundcrew: Timeout after 1s waiting for the answer\n',
    });
    held.release();
  });

  test('a reader that stops reading stops the program, without output', async () => {
    const run = world.start(['-p', `Say 'x' 500 times`]);
    run.child.stdout?.destroy();
    expect(await run.ended).toMatchObject({ code: 141, stderr: '' });
  });
});
