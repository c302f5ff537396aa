import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { callTools, type ScriptedReply, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { answer } from '../src/commands/run.js';
import type { AllowRule } from '../src/config/allow-rules.js';
import type { Config } from '../src/config/config.js';
import { Redactor } from '../src/log/redact.js';
import { inProcessWorld } from './in-process-world.js';
import { cliWorld } from './program.js';
import { TestTerminal } from './streams.js';

const { home, script, open } = inProcessWorld();
let places = 0;

/** `groundcrew -p` in a directory of its own, with a model that plays these replies. */
async function run(
  options: {
    readonly kind?: 'terminal' | 'pipe';
    readonly allow?: readonly AllowRule[];
    readonly directory?: string;
  },
  ...replies: readonly ScriptedReply[]
) {
  const directory = options.directory ?? join(home.path, `place-${places++}`);
  if (!existsSync(directory)) mkdirSync(directory);
  const terminal = new TestTerminal(directory, options.kind ?? 'terminal');
  const runtime = await open({
    homeDirectory: join(home.path, 'home'),
    workingDirectory: directory,
    environment: { PATH: process.env.PATH },
  });
  const model = script(...replies);
  const config: Config = {
    homeDirectory: home.path,
    streaming: false,
    sessionIdleSeconds: 0,
    allow: options.allow ?? [],
    warnings: [],
    ways: [],
    model: 'scripted',
    provider: { source: 'a test', config: { baseUrl: model.baseUrl } },
  };
  const client = new Client({
    connection: RuntimeConnection.forChannel(() => runtime.channel),
    onHandlerError: () => undefined,
  });
  const ended = answer({ client, config, redactor: new Redactor(), flags: {}, prompt: 'Go' }, terminal);
  const toolTexts = () =>
    model.requests.at(-1)?.body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
  return { terminal, model, ended, directory, toolTexts };
}

const bash = (id: string, command: string) =>
  callTools({ id, name: 'bash', arguments: { command, description: 'Look around' } });
const prompt = 'y once, s this session, p this place (echo), n no, or why not: ';

describe('a person at a terminal', () => {
  test('sees the whole command and why, and lets it run once', async () => {
    const long = `echo ${'x'.repeat(3000)}`;
    const { terminal, ended, toolTexts } = await run(
      {},
      bash('c1', long),
      bash('c2', 'echo two'),
      say('done'),
    );
    await terminal.errorOutput.says(prompt);
    expect(terminal.errorOutput.text).toContain(`Allow to run ${long}?\n  why: Look around\n`);
    terminal.type('y');
    await terminal.errorOutput.says('Allow to run echo two?\n', prompt);
    terminal.type('no, thanks');
    expect(await ended).toBe(0);
    expect(terminal.output.text).toBe('done\n');
    expect(toolTexts()?.[1]).toBe('The user rejected this tool call. User feedback: no, thanks');
  });

  test('sees a command of several lines as lines, and nothing hides in it', async () => {
    const { terminal, ended } = await run({}, bash('c1', 'echo a\necho \u001b[2Jb'), say('done'));
    await terminal.errorOutput.says(prompt);
    expect(terminal.errorOutput.text).toContain(
      'Allow to run these lines?\n    echo a\n    echo \\x1b[2Jb\n  why: Look around\n',
    );
    terminal.type('n');
    expect(await ended).toBe(0);
  });

  test('approves for the session: the same is not asked again', async () => {
    const { terminal, ended, toolTexts } = await run(
      {},
      bash('c1', 'echo one'),
      bash('c2', 'echo two'),
      say('done'),
    );
    await terminal.errorOutput.says(prompt);
    terminal.type('s');
    expect(await ended).toBe(0);
    expect(toolTexts()).toEqual(['one\n<exited with exit code 0>', 'two\n<exited with exit code 0>']);
    expect(terminal.errorOutput.text.match(/Allow to/g)).toHaveLength(1);
  });

  test('approves for the place: not even the next session asks there, but one elsewhere does', async () => {
    const first = await run({}, bash('c1', 'echo one'), say('done'));
    await first.terminal.errorOutput.says(prompt);
    first.terminal.type('p');
    expect(await first.ended).toBe(0);
    const { directory } = first;
    const second = await run({ kind: 'pipe', directory }, bash('c1', 'echo two'), say('done'));
    expect(await second.ended).toBe(0);
    expect(second.toolTexts()).toEqual(['two\n<exited with exit code 0>']);
    const elsewhere = await run({ kind: 'pipe' }, bash('c1', 'echo two'), say('done'));
    expect(await elsewhere.ended).toBe(0);
    expect(elsewhere.toolTexts()).toEqual(['Permission denied and could not request permission from user']);
  });

  test('sees what would be written as a diff in colours', async () => {
    const directory = join(home.path, `place-${places++}`);
    mkdirSync(directory);
    const path = join(directory, 'a.txt');
    writeFileSync(path, 'one\ntwo\nthree\n');
    const edit = callTools({
      id: 'c1',
      name: 'edit',
      arguments: { path, old_str: 'two', new_str: 'TWO\u0007' },
    });
    const { terminal, ended } = await run({ directory }, edit, say('done'));
    await terminal.errorOutput.says(
      'y once, s this session, p this place (writing files), n no, or why not: ',
    );
    const shown = terminal.errorOutput.text;
    expect(shown).toContain(`Allow to write ${path}?\n`);
    expect(shown).toContain('\u001b[31m-two\u001b[0m\n');
    expect(shown).toContain('\u001b[32m+TWO\\x07\u001b[0m\n');
    terminal.type('y');
    expect(await ended).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('one\nTWO\u0007\nthree\n');
  });

  test('is asked for a place outside by itself, once only', async () => {
    const outside = join(home.path, 'outside.txt');
    writeFileSync(outside, 'secret');
    const view = callTools({ id: 'c1', name: 'view', arguments: { path: outside } });
    const { terminal, ended, toolTexts } = await run({}, view, say('done'));
    await terminal.errorOutput.says('y once, n no, or why not: ');
    expect(terminal.errorOutput.text).toContain(
      `Allow to look outside the working directory?\n    ${outside}\n`,
    );
    terminal.type('y');
    await terminal.errorOutput.says(`Allow to read ${outside}?\n`, 'why not: ');
    terminal.type('y');
    expect(await ended).toBe(0);
    expect(toolTexts()).toEqual(['1. secret']);
  });

  test('does not answer with what was typed before the question', async () => {
    const { terminal, ended, toolTexts } = await run({}, bash('c1', 'echo one'), say('done'));
    terminal.type('y');
    await terminal.errorOutput.says(prompt);
    terminal.type('n');
    expect(await ended).toBe(0);
    expect(toolTexts()).toEqual(['The user rejected this tool call. User feedback: No.']);
  });

  test('stops the run with Ctrl-C at a question', async () => {
    const { terminal, ended } = await run({}, bash('c1', 'echo one'), say('done'));
    await terminal.errorOutput.says(prompt);
    terminal.input.write('\u0003');
    expect(await ended).toBe(130);
  });

  test.each([
    ['2', 'User selected: Blue'],
    ['red', 'User selected: Red'],
    ['Neither', 'User responded: Neither'],
  ])('answers a question of the agent by %s', async (typed, received) => {
    const ask = callTools({
      id: 'c1',
      name: 'ask_user',
      arguments: { question: 'Which\u0007 one?', choices: ['Red', 'Blue'] },
    });
    const { terminal, ended, toolTexts } = await run({}, ask, say('done'));
    await terminal.errorOutput.says('Which\\x07 one?\n  1  Red\n  2  Blue\n');
    await terminal.errorOutput.says('1 to 2, or your own words: ');
    terminal.type(typed);
    expect(await ended).toBe(0);
    expect(toolTexts()).toEqual([received]);
  });

  test('is asked again when the answer must be one of the choices and is not', async () => {
    const ask = callTools({
      id: 'c1',
      name: 'ask_user',
      arguments: { question: 'Which?', choices: ['Red', 'Blue'], allow_freeform: false },
    });
    const { terminal, ended, toolTexts } = await run({}, ask, say('done'));
    await terminal.errorOutput.says('1 to 2: ');
    terminal.type('Neither');
    await terminal.errorOutput.says('1 to 2: ', 'Neither', '1 to 2: ');
    terminal.type('1');
    expect(await ended).toBe(0);
    expect(toolTexts()).toEqual(['User selected: Red']);
  });
});

describe('where there is no terminal', () => {
  test('a rule allows what it names and nothing else', async () => {
    const allow = [{ kind: 'shell', argument: 'echo:*' } as const];
    const { terminal, ended, toolTexts } = await run(
      { kind: 'pipe', allow },
      bash('c1', 'echo one'),
      bash('c2', 'true; echo two'),
      say('done'),
    );
    expect(await ended).toBe(0);
    expect(toolTexts()).toEqual([
      'one\n<exited with exit code 0>',
      'Permission denied and could not request permission from user',
    ]);
    expect(terminal.errorOutput.text).toContain(
      'denied: run true; echo two (--allow shell would permit it)\n',
    );
  });

  test('permission to read and write does not reach outside, and stderr names the flag that does', async () => {
    const allow = [
      { kind: 'read', argument: null },
      { kind: 'write', argument: null },
    ] as const;
    const { terminal, ended, toolTexts } = await run(
      { kind: 'pipe', allow },
      callTools({ id: 'c1', name: 'view', arguments: { path: '/etc/hosts' } }),
      callTools({ id: 'c2', name: 'create', arguments: { path: '/etc/groundcrew-test', file_text: '' } }),
      callTools({ id: 'c3', name: 'create', arguments: { path: 'inside', file_text: '' } }),
      say('done'),
    );
    expect(await ended).toBe(0);
    expect(toolTexts()?.slice(0, 2)).toEqual([
      'Permission denied and could not request permission from user',
      'Permission denied and could not request permission from user',
    ]);
    expect(toolTexts()?.at(2)).toMatch(/^Created file/);
    for (const said of ['look', 'write'] as const)
      expect(terminal.errorOutput.text).toContain(`denied: ${said} outside the working directory: /etc/`);
    expect(terminal.errorOutput.text).toContain("(--allow 'path(/etc/hosts)' would permit it)");
  });

  test('the model learns that no user can be asked, and the output what was to be asked', async () => {
    const ask = callTools({ id: 'c1', name: 'ask_user', arguments: { question: 'Which?' } });
    const { terminal, ended, toolTexts } = await run({ kind: 'pipe' }, ask, say('done'));
    expect(await ended).toBe(0);
    expect(toolTexts()).toEqual([
      'The user could not be asked: no client answers questions here. Decide as you think best, and say what you assumed.',
    ]);
    expect(terminal.errorOutput.text).toContain('not asked: Which? (there is no terminal)\n');
  });
});

/** The program that gives another one a terminal; part of every Linux. */
const hasScript = spawnSync('script', ['--version']).status === 0;

describe.skipIf(!hasScript)('on a real terminal', () => {
  const world = cliWorld();

  test('a question is asked, answered and obeyed', async () => {
    const program = join(import.meta.dirname, '../bin/groundcrew.js');
    const command = `'${process.execPath}' '${program}' -p "Write 'x' to a.txt"`;
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      cwd: world.workingDirectory,
      env: { PATH: process.env.PATH, HOME: world.home.path, GROUNDCREW_HOME: world.homePath, TERM: 'xterm' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const ended = once(child, 'close');
    let shown = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    while (!shown.includes('or why not: ')) await Promise.race([once(child.stdout, 'data'), ended]);
    expect(shown).toContain(`Allow to write ${join(world.workingDirectory, 'a.txt')}?`);
    expect(shown).toContain('\u001b[32m+x\u001b[0m');
    child.stdin.write('y\r');
    await ended;
    expect(readFileSync(join(world.workingDirectory, 'a.txt'), 'utf8')).toBe('x');
    expect(shown).toContain('Created file');
  });
});
