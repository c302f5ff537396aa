import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();
const check = (...args: string[]) => world.run(['permissions', 'check', ...args]);
const write = (rules: object | string) =>
  writeFileSync(
    join(world.homePath, 'permissions.json'),
    typeof rules === 'string' ? rules : JSON.stringify(rules, undefined, 1),
  );

describe('permissions check', () => {
  test('says that the user would be asked, and what was read in the command', async () => {
    expect(await check('cat a.txt | tee /etc/x; curl https://example.com')).toEqual({
      code: 3,
      stdout: [
        'asks: cat a.txt | tee /etc/x; curl https://example.com',
        'because: No rule and no approval covers it. In this place one part of the line may change what another part goes by.',
        'command: cat (only reads)',
        'command: tee',
        'command: curl',
        'path: a.txt',
        'path: /etc/x',
        'address: https://example.com',
        '',
      ].join('\n'),
      stderr: '',
    });
  });

  test('says why something cannot be approved in advance', async () => {
    const { stdout, code } = await check('sudo rm -rf x');
    expect({ code, because: stdout.split('\n')[1] }).toEqual({
      code: 3,
      because:
        'because: No rule and no approval covers it. It cannot be approved in advance: `sudo` runs or changes other commands.',
    });
  });

  test('names the rule that decides, and its line', async () => {
    write({ deny: [{ command: 'rm -rf' }], allow: [{ command: 'git *' }] });
    expect(await check('git status && git diff')).toEqual({
      code: 0,
      stdout: [
        'runs: git status && git diff',
        'because: The rule shell(git *) (permissions.json, line 8) allows it.',
        'command: git status (only reads)',
        'command: git diff (only reads)',
        '',
      ].join('\n'),
      stderr: '',
    });
    const { code, stdout } = await check('env rm -fr x');
    expect({ code, because: stdout.split('\n').slice(0, 2) }).toEqual({
      code: 1,
      because: [
        'denied: env rm -fr x',
        'because: The rule shell(rm -rf) (permissions.json, line 3) denies it.',
      ],
    });
  });

  test('answers for paths, addresses and tools too', async () => {
    write({
      deny: [{ path: '**/.env' }, { url: 'intranet.example' }, { tool: 'sql' }],
      allow: [{ path: '/etc', access: 'read' }],
    });
    symlinkSync('/etc', join(world.workingDirectory, 'link'));
    const codes = [];
    for (const args of [
      ['--read', 'sub/.env'],
      ['--write', 'sub/.env'],
      ['--read', '/etc/hosts'],
      ['--read', 'link/hosts'],
      ['--write', '/etc/hosts'],
      ['--url', 'https://www.intranet.example/x'],
      ['--url', 'https://example.com'],
      ['--tool', 'sql'],
      ['--tool', 'list_bash'],
      ['--tool', 'bash'],
    ])
      codes.push([...args, (await check(...args)).code]);
    rmSync(join(world.workingDirectory, 'link'));
    expect(codes).toEqual([
      ['--read', 'sub/.env', 1],
      ['--write', 'sub/.env', 1],
      ['--read', '/etc/hosts', 0],
      ['--read', 'link/hosts', 3],
      ['--write', '/etc/hosts', 3],
      ['--url', 'https://www.intranet.example/x', 1],
      ['--url', 'https://example.com', 3],
      ['--tool', 'sql', 1],
      ['--tool', 'list_bash', 0],
      ['--tool', 'bash', 3],
    ]);
  });

  test('says which rules for paths hold while a command runs, and asks where none does', async () => {
    write({ deny: [{ path: '/srv/denied' }] });
    const rule = 'path(/srv/denied) (permissions.json, line 3)';
    const environment = { GROUNDCREW_BWRAP: '/missing/bwrap' };
    const without = await world.run(['permissions', 'check', 'make', '--mode', 'allow-all'], { environment });
    expect(without).toEqual({
      code: 3,
      stdout: [
        'asks: make',
        `because: The rule ${rule} denies a path that this command could touch, and no sandbox holds it.`,
        'command: make',
        `not held while it runs: ${rule}`,
        '',
      ].join('\n'),
      stderr: '',
    });
    rmSync(join(world.homePath, 'permissions.json'));
  });

  test('knows the modes, another directory, and what was approved there for good', async () => {
    const directory = join(realpathSync(world.workingDirectory), 'approved');
    mkdirSync(directory, { recursive: true });
    const approval = { kind: 'commands', commandIdentifiers: ['make'] };
    writeFileSync(
      join(world.homePath, 'permissions-config.json'),
      JSON.stringify({ locations: { [directory]: { tool_approvals: [approval] } } }),
    );
    expect((await check('make')).code).toBe(3);
    expect((await check('make', '--cwd', 'approved')).code).toBe(0);
    expect((await check('make', '--mode', 'allow-all')).code).toBe(0);
    expect((await check('make', '--mode', 'assisted')).code).toBe(3);
    expect((await check('ls', '--mode', 'assisted')).code).toBe(0);
  });

  test('prints JSON for programs', async () => {
    write({ deny: [{ command: 'rm' }] });
    const { stdout, code } = await check('rm x', '--json');
    expect({ code, said: JSON.parse(stdout) }).toEqual({
      code: 1,
      said: {
        verdict: 'deny',
        because: 'The rule shell(rm) (permissions.json, line 3) denies it.',
        rule: { kind: 'shell', argument: 'rm', origin: 'permissions.json, line 3' },
        about: { type: 'command', command: 'rm x' },
        commands: [{ identifier: 'rm', readOnly: false }],
        paths: [],
        urls: [],
        heldPaths: [],
        openPaths: [],
        problems: [],
      },
    });
  });

  test('refuses a file with a mistake, and says where it is', async () => {
    write('{\n "deny": [{ "command": [] }]\n}');
    expect(await check('ls')).toEqual({
      code: 2,
      stdout: '',
      stderr: `groundcrew: ${world.homePath}/permissions.json:2:24: deny[0].command: expected a text that says something\n`,
    });
  });

  test.each([
    [[], 'needs one thing to ask about'],
    [['ls', '--read', 'x'], 'needs one thing to ask about'],
    [['--url', 'nowhere'], '--url needs an address'],
    [['ls', '--mode', 'some'], '--mode needs one of manual, assisted, allow-all'],
    [['ls', 'rm'], 'Unknown argument rm'],
  ])('%j is wrong usage', async (args, words) => {
    const { code, stderr } = await check(...args);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(words) });
  });

  test('describes itself', async () => {
    const { stdout, code } = await world.run(['permissions', '--help']);
    expect({ code, lines: stdout.split('\n').slice(0, 4) }).toEqual({
      code: 0,
      lines: [
        'Says what would happen to a call in a new session here, and why; nothing is run',
        '',
        "  groundcrew permissions check 'COMMAND' [--json]",
        '  groundcrew permissions check --read PATH | --write PATH | --url URL | --tool NAME',
      ],
    });
    expect((await world.run(['help'])).stdout).toContain("groundcrew permissions check 'COMMAND'");
    expect((await world.run(['permissions', 'ls'])).code).toBe(2);
  });
});

test('the rules of the home hold for a prompt of the command line, whatever it allows', async () => {
  write({ deny: [{ command: 'touch' }] });
  const model = world.script(
    callTools({ id: 'c1', name: 'bash', arguments: { command: 'touch made', description: 'd' } }),
    say('understood'),
  );
  world.configure({ provider: { baseUrl: model.baseUrl } });
  const { code, stdout } = await world.run(['-p', 'Touch', '--allow-all']);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'understood\n' });
  expect(existsSync(join(world.workingDirectory, 'made'))).toBe(false);
  const received = model.requests[1]?.body.messages.findLast(({ role }) => role === 'tool')?.content;
  expect(received).toBe('Permission denied by rules: shell(touch) (permissions.json, line 3)');
});
