import { describe, expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();

describe('wrong usage is one clear line and code 2', () => {
  const seeHelp = 'Run groundcrew --help to see what there is.';
  test.each([
    [['frobnicate'], 'Unknown command frobnicate. Run groundcrew help to see what there is.'],
    [['constructor'], 'Unknown command constructor. Run groundcrew help to see what there is.'],
    [['What is 1+1?'], 'Unknown command What is 1+1?. To ask something: groundcrew -p "…"'],
    [['-p'], '-p needs a value'],
    [['-p', '--json'], '-p needs a value'],
    [['-p', ''], '-p needs a prompt that says something'],
    [['-p', 'Hello', 'you'], `Unknown argument you. ${seeHelp}`],
    [['-p', 'Hello', '--json=yes'], '--json takes no value'],
    [['-p', 'Hello', '--timeout', 'soon'], '--timeout needs a whole number from 0 to 2000000, not soon'],
    [
      ['-p', 'Hello', '--log-level', 'loud'],
      '--log-level needs one of none, error, warning, info, debug, all, not loud',
    ],
    [
      ['-p', 'Hello', '--allow', 'shell,fun'],
      '--allow needs all, or rules such as write or shell(git:*), of shell, write, read, mcp, url, memory, custom-tool, hook; not fun',
    ],
    [
      ['-p', 'Hello', '--resume', 'last', '--session-id', 'x'],
      '--resume and --session-id cannot go together: a session has its id already',
    ],
    [['-p', 'Hello', '--cwd', '/no/such/place'], '--cwd: there is no directory /no/such/place'],
    [['serve', '--port', '70000'], '--port needs a whole number from 0 to 65535, not 70000'],
    [
      ['sessions'],
      'groundcrew sessions needs one of ls, show, export, search, compact, fork, rewind, import, rm, prune',
    ],
    [
      ['sessions', 'burn'],
      'groundcrew sessions needs one of ls, show, export, search, compact, fork, rewind, import, rm, prune, not burn',
    ],
    [['sessions', 'show'], 'The id of a session is missing; groundcrew sessions ls lists them'],
    [['sessions', 'rm'], 'The id of a session is missing; groundcrew sessions ls lists them'],
    [['backup'], 'groundcrew backup needs the FILE to write'],
    [['doctor', 'now'], `Unknown argument now. ${seeHelp}`],
    [['help', 'frobnicate'], 'Unknown command frobnicate. Run groundcrew help to see what there is.'],
  ])('%j', async (args, line) => {
    expect(await world.run(args)).toEqual({ code: 2, stdout: '', stderr: `groundcrew: ${line}\n` });
  });
});

describe('help', () => {
  test('lists every command, and is the same by all its names', async () => {
    const [help, flag, short] = await Promise.all([
      world.run(['help']),
      world.run(['--help']),
      world.run(['-h']),
    ]);
    const rows = help.stdout.match(/(?<=^ {2}groundcrew )\S+/gm);
    expect(rows).toEqual([
      '[flags]',
      '-p',
      'serve',
      'top',
      'relay',
      'token',
      '--acp',
      'inspect',
      'sessions',
      'prune',
      'mcp',
      'models',
      'permissions',
      'agents',
      'skills',
      'replay',
      'doctor',
      'backup',
      'migrate',
      'init',
      'help',
    ]);
    expect(help).toEqual({ code: 0, stdout: expect.stringContaining('config.json'), stderr: '' });
    expect([flag, short]).toEqual([help, help]);
  });

  test.each(['chat', 'run', 'serve', 'sessions', 'models', 'help'])(
    'of %s is the same by both its names',
    async (name) => {
      const [long, flag] = await Promise.all([world.run(['help', name]), world.run([name, '--help'])]);
      expect(long).toEqual({
        code: 0,
        stdout: expect.stringMatching(/^[A-Z].*\n\n {2}groundcrew/),
        stderr: '',
      });
      expect(flag).toEqual(long);
    },
  );

  test.each([
    [['-p', '--help']],
    [['--help', '-p']],
    [['help', '-p']],
    [['help', '--prompt']],
    [['-p', 'x', '-h']],
  ])('of a prompt is that of run: %j', async (args) => {
    const [asked, run] = await Promise.all([world.run(args), world.run(['help', 'run'])]);
    expect(asked).toEqual(run);
    expect(asked.stdout).toContain('--timeout S');
  });

  test.each([[['sessions', 'export', '--help']], [['help', 'sessions', 'export']]])(
    'of one command of sessions is its own: %j',
    async (args) => {
      expect((await world.run(args)).stdout).toMatch(
        /^Writes the events .*\n\n {2}groundcrew sessions export ID \[FILE\]\n/,
      );
    },
  );

  test.each([
    [
      ['help', '--acp'],
      ['--acp', '--help'],
    ],
    [['help', '--headless'], ['--help']],
    [['help', '--server'], ['--help']],
    [
      ['help', 'mcp', 'add'],
      ['mcp', 'add', '--help'],
    ],
  ])('by %j is the same as by %j', async (asked, plainly) => {
    const [one, other] = await Promise.all([world.run(asked), world.run(plainly)]);
    expect(one).toEqual({ code: 0, stdout: expect.stringContaining('groundcrew'), stderr: '' });
    expect(one).toEqual(other);
  });
});

test.each(['--version', '-v'])('%s prints the version', async (flag) => {
  expect(await world.run([flag])).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+.*\n$/),
    stderr: '',
  });
});
