import {
  callTools,
  hold,
  liveRuntime,
  providerOf,
  RuntimeProcess,
  say,
  story,
  WireClient,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', skipPermission: true }];

describe('the command line', () => {
  test.each([
    ['--server --stdio --no-auto-update --log-level debug --session-idle-timeout 9'],
    ['--stdio --no-auto-login --log-level=all --headless'],
    ['--auth-token-env NAME --headless --no-auto-update --stdio'],
  ])('%s', async (flags) => {
    const process = new RuntimeProcess({ flags: flags.split(' '), home: runtime.home.path });
    const client = new WireClient(await process.connect());
    expect(await client.call('ping', {})).toMatchObject({ message: 'pong' });
    await client.call('runtime.shutdown', {});
    expect(await process.exited).toEqual({ code: 0, signal: null });
    expect(process.stderr).toBe('');
  });

  test('flags of the peer are accepted: with a warning, unless they ask for what is so anyway; so is a level', async () => {
    const process = new RuntimeProcess({
      flags:
        '--no-auto-update --remote --log-dir /nowhere --allow-tool shell write --headless --log-level loud --stdio --no-color --stream=off'.split(
          ' ',
        ),
      home: runtime.home.path,
    });
    const client = new WireClient(await process.connect());
    expect(await client.call('ping', {})).toMatchObject({ message: 'pong' });
    process.endInput();
    expect(await process.exited).toEqual({ code: 0, signal: null });
    expect(process.stderr.split('\n')).toEqual([
      '--remote is accepted for compatibility and has no effect.',
      '--log-dir is accepted for compatibility and has no effect.',
      '--allow-tool is accepted for compatibility and has no effect.',
      '--stream is accepted for compatibility and has no effect.',
      'Ignored --log-level loud; it may be none, error, warning, info, debug, all',
      '',
    ]);
  });

  test.each([
    ['--headless --stdio --frobnicate', '--frobnicate'],
    ['--frobnicate --server --port 0 --log-level none', '--frobnicate'],
    ['--headless --stdio --constructor', '--constructor'],
    ['--headless --stdio --api-key=secret-1', '--api-key'],
    ['--headless --stdio -x', '-x'],
    ['--frobnicate', '--frobnicate'],
    ['-p hello --frobnicate', '--frobnicate'],
    ['serve --frobnicate', '--frobnicate'],
    ['sessions ls --no-color', '--no-color'],
    ['sessions --frobnicate', '--frobnicate'],
    ['permissions --frobnicate', '--frobnicate'],
    ['mcp --frobnicate', '--frobnicate'],
  ])('%s ends with code 1 and names the unknown option', async (flags, name) => {
    const process = new RuntimeProcess({ flags: flags.split(' '), home: runtime.home.path });
    expect(await process.exited).toEqual({ code: 1, signal: null });
    expect(process.stderr).toBe(
      `error: unknown option '${name}'\nRun groundcrew --help to see what there is.\n`,
    );
    expect(process.stdout).toBe('');
  });

  test.each(['--help', '--headless --help', '--server -h', 'help'])(
    '%s lists the flags of the peer that are accepted, and those that are refused',
    async (flags) => {
      const process = new RuntimeProcess({ flags: flags.split(' '), home: runtime.home.path });
      expect(await process.exited).toEqual({ code: 0, signal: null });
      const [, accepted, refused] =
        /accepted for compatibility.*\n\n((?: {2}--.*\n)+)\n.*refused.*\n\n((?: {2}--.*\n)+)/.exec(
          process.stdout,
        ) ?? [];
      for (const name of ['--no-auto-update', '--remote', '--no-color']) expect(accepted).toContain(name);
      expect(refused).toContain('--deny-tool');
    },
  );

  test.each([
    ['--headless --stdio stray', /Unknown argument stray/],
    ['--headless --stdio=yes', /--stdio takes no value/],
    ['--headless --stdio --deny-tool shell', /--deny-tool is not built here.*permissions\.json/],
    ['--headless --stdio --log-dir', /--log-dir needs a value/],
    ['--headless --port x', /--port needs a whole number/],
    ['--headless --port 70000', /--port needs a whole number from 0 to 65535/],
    ['--headless --stdio --log-level', /--log-level needs a value/],
    ['--headless --auth-token-env --stdio', /--auth-token-env needs a value/],
  ])('%s is a mistake and ends with code 2', async (flags, reason) => {
    const process = new RuntimeProcess({ flags: flags.split(' '), home: runtime.home.path });
    expect(await process.exited).toEqual({ code: 2, signal: null });
    expect(process.stderr).toMatch(reason);
  });
});

describe('on a port', () => {
  test('one line announces it; a second program on the same port ends with code 1', async () => {
    const first = runtime.spawn();
    const port = await first.port();
    expect(first.stdout).toBe(`CLI server listening on port ${port}\n`);
    const second = runtime.spawn({ flags: ['--port', String(port)] });
    expect(await second.exited).toEqual({ code: 1, signal: null });
    expect(second.stderr).toMatch(/Failed to start server: Error: Address already in use \(os error 98\)/);
    expect(second.stdout).toBe('');
    expect(await first.signal('SIGTERM')).toEqual({ code: 0, signal: null });
  });

  test('a client that leaves does not stop the program, and SIGINT does', async () => {
    const process = runtime.spawn({ flags: ['--port', '0'] });
    const gone = await runtime.connect(process);
    await gone.create();
    await gone.close();
    const client = await runtime.connect(process);
    expect(await client.call('ping', {})).toMatchObject({ message: 'pong' });
    expect(await process.signal('SIGINT')).toEqual({ code: 0, signal: null });
  });
});

describe('the end', () => {
  test('shutdown answers once everything is closed, and refuses what comes meanwhile', async () => {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(process);
    const session = await client.create({ ...providerOf(runtime.script(say('hi'))), sessionId: 'shut-1' });
    await session.turn('Hello');
    const answers = await Promise.all([
      client.failure('runtime.shutdown', {}),
      client.failure('ping', {}),
      client.failure('session.create', {}),
    ]);
    const refused = { code: -32000, message: 'SERVER_SHUTTING_DOWN' };
    expect(answers).toEqual([{ result: null }, refused, refused]);
    expect(await process.exited).toEqual({ code: 0, signal: null });
    expect(story(session.events).at(-1)).toBe('session.shutdown routine');
  });

  test.each([
    ['the end of stdin', (process: RuntimeProcess) => process.endInput()],
    ['SIGTERM', (process: RuntimeProcess) => void process.signal('SIGTERM')],
  ])('%s leaves a running turn as pending work', async (name, end) => {
    const model = runtime.script(look, say('seen'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(process);
    const sessionId = `left-by-${name.length}`;
    const before = await client.create({ ...providerOf(model), sessionId, tools });
    await before.send('Look');
    const { data } = await before.next('external_tool.requested');
    end(process);
    expect(await process.exited).toEqual({ code: 0, signal: null });
    const after = await runtime.client.resume(sessionId, {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    expect((await after.next('session.resume')).data).toMatchObject({
      sessionWasActive: false,
      continuePendingWork: true,
    });
    expect(await after.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await after.next('session.idle');
    expect(story(await after.stored()).slice(-8)).toEqual([
      'external_tool.requested look#c1',
      'session.resume',
      'external_tool.completed',
      'tool.execution_complete c1 ok "a tree"',
      'assistant.turn_end 0',
      'assistant.turn_start 1',
      'assistant.message "seen"',
      'assistant.turn_end 1',
    ]);
  });

  test('the end of stdin in a model call leaves the turn to the client that resumes', async () => {
    const held = hold();
    const model = runtime.script(held.reply, say('answered'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(process);
    const before = await client.create({ ...providerOf(model), sessionId: 'left-asking' });
    await before.send('Say');
    await model.asked(1);
    process.endInput();
    expect(await process.exited).toEqual({ code: 0, signal: null });
    held.release();
    const after = await runtime.client.resume('left-asking', {
      ...providerOf(model),
      continuePendingWork: true,
    });
    await after.next('session.idle');
    expect(story(await after.stored()).slice(-3)).toEqual([
      'session.resume',
      'assistant.message "answered"',
      'assistant.turn_end 0',
    ]);
  });
});
