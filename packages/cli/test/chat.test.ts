import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, defineTool, RuntimeConnection } from '@groundcrew/sdk';
import {
  callTools,
  hold,
  type ScriptedModel,
  type ScriptedReply,
  say,
  temporaryDirectory,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';
import { Chat } from '../src/chat/chat.js';
import type { Config } from '../src/config/config.js';
import { Redactor } from '../src/log/redact.js';
import { Display } from '../src/terminal/display.js';
import { LineInput } from '../src/terminal/line-input.js';
import { inProcessWorld } from './in-process-world.js';
import { cliWorld } from './program.js';
import { TestTerminal } from './streams.js';

const { home, script, open } = inProcessWorld();

/** The arguments of each call of the one tool there is. */
const strikes: unknown[] = [];
const strike = defineTool('strike', {
  parameters: { type: 'object', properties: { what: { type: 'string' } } },
  handler: (given) => {
    strikes.push(given);
    return 'struck';
  },
});
const asks = 'y once, s this session, p this place (strike), n no, or why not: ';
const askToStrike = callTools({ id: 'c1', name: 'strike', arguments: { what: 'a \u001b[2J bell' } });

/** A chat of a user, or of a pipe, with a model that plays these replies; without any it is the offline one. */
async function chat(
  options: {
    readonly kind?: 'terminal' | 'pipe';
    readonly allow?: Config['allow'];
    readonly directory?: string;
  } = {},
  ...replies: readonly ScriptedReply[]
) {
  const workingDirectory = options.directory ?? home.path;
  const terminal = new TestTerminal(workingDirectory, options.kind ?? 'terminal');
  const runtime = await open({
    homeDirectory: home.path,
    workingDirectory,
    environment: {},
  });
  const client = new Client({ connection: RuntimeConnection.forChannel(() => runtime.channel) });
  const model = replies.length > 0 ? script(...replies) : undefined;
  const config: Config = {
    homeDirectory: home.path,
    streaming: true,
    sessionIdleSeconds: 0,
    allow: options.allow ?? [],
    warnings: [],
    ways: [],
    ...(model && { model: 'scripted', provider: { source: 'a test', config: { baseUrl: model.baseUrl } } }),
  };
  const isTerminal = terminal.inputKind === 'terminal';
  const lines = new LineInput({ input: terminal.input, output: terminal.output, isTerminal });
  const display = new Display({ ...terminal, output: terminal.output, redactor: new Redactor() });
  const given = { client, config, flags: {}, lines, display, isTerminal, options: { tools: [strike] } };
  const ended = new Chat(given, terminal).run().finally(() => lines.close());
  return { terminal, model, ended };
}

describe('a person', () => {
  test('is greeted, answered piece by piece, and let go', async () => {
    const { terminal, ended } = await chat();
    await terminal.output.says('> ');
    terminal.type('What is 1+1?');
    await terminal.output.says('1+1 = 2\n');
    terminal.type('Now if you double that, what do you get?');
    await terminal.output.says('2 * 2 = 4\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect(terminal.errorOutput.text).toBe('groundcrew 1.2.3 · offline · /help for help\n');
  });

  test('is asked before a tool runs, in full and with nothing hidden', async () => {
    const { terminal, model, ended } = await chat({}, askToStrike, say('it is done'));
    terminal.type('Strike it');
    await terminal.errorOutput.says('Allow to call strike {"what":"a \\u001b[2J bell"}?\n');
    await terminal.output.says(asks);
    terminal.type('y');
    await terminal.output.says('it is done\n');
    terminal.input.end();
    expect(await ended).toBe(0);
    expect(strikes.splice(0)).toEqual([{ what: 'a \u001b[2J bell' }]);
    expect(model?.refusals).toEqual([]);
  });

  test.each([
    ['n', 'The user rejected this tool call. User feedback: No.'],
    ['use the other one', 'The user rejected this tool call. User feedback: use the other one'],
  ])('who answers %s is understood by the model', async (word, received) => {
    const { terminal, model, ended } = await chat({}, askToStrike, say('as you wish'));
    terminal.type('Strike it');
    await terminal.output.says(asks);
    terminal.type(word);
    await terminal.output.says('as you wish\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect((await model?.asked(2))?.body.messages.at(-1)?.content).toBe(received);
    expect(strikes).toEqual([]);
  });

  test('does not answer a question with what was typed before it was asked', async () => {
    const held = hold(askToStrike);
    const { terminal, model, ended } = await chat({}, held.reply, say('as you wish'));
    terminal.type('Strike it');
    await model?.asked(1);
    terminal.type('y');
    held.release();
    await terminal.output.says(asks);
    terminal.type('n');
    await terminal.output.says('as you wish\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect(strikes).toEqual([]);
  });

  test('is not asked about what is allowed', async () => {
    const { terminal, ended } = await chat(
      { allow: [{ kind: 'custom-tool', argument: null }] },
      askToStrike,
      say('it is done'),
    );
    terminal.type('Strike it');
    await terminal.output.says('it is done\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect(strikes.splice(0)).toHaveLength(1);
    expect(terminal.errorOutput.text).not.toContain('Allow');
  });

  test('stops an answer with Ctrl-C and goes on', async () => {
    const { terminal, model, ended } = await chat({}, hold().reply, say('here again'));
    terminal.type('Think');
    await model?.asked(1);
    terminal.input.write('\u0003');
    await terminal.errorOutput.says('stopped\n');
    terminal.type('Are you there?');
    await terminal.output.says('here again\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect(terminal.errorOutput.text).toContain('stopping; Ctrl-C again to quit\n');
  });

  test('stops a question with Ctrl-C', async () => {
    const { terminal, ended } = await chat({}, askToStrike, say('here again'));
    terminal.type('Strike it');
    await terminal.output.says(asks);
    terminal.input.write('\u0003');
    await terminal.errorOutput.says('stopped\n');
    terminal.type('Are you there?');
    await terminal.output.says('here again\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect(strikes).toEqual([]);
  });

  test('is warned by the first Ctrl-C at the prompt, and what was typed is forgotten', async () => {
    const { terminal, ended } = await chat();
    await terminal.output.says('> ');
    terminal.input.write('Reply with exactly: no\u0003');
    await terminal.errorOutput.says('Ctrl-C again to quit\n');
    terminal.type('Reply with exactly: yes');
    await terminal.output.says('\nyes\n');
    terminal.input.write('\u0003');
    terminal.input.write('\u0003');
    expect(await ended).toBe(130);
  });

  test('quits with Ctrl-C, twice', async () => {
    const { terminal, model, ended } = await chat({}, hold().reply);
    terminal.type('Think');
    await model?.asked(1);
    terminal.signal('SIGINT');
    terminal.signal('SIGINT');
    expect(await ended).toBe(130);
  });
});

describe('an entry of several lines', () => {
  const content = async (model: ScriptedModel | undefined) =>
    (await model?.asked(1))?.body.messages.at(-1)?.content;

  test('is what was pasted, and goes out when Enter is pressed', async () => {
    const { terminal, model, ended } = await chat({}, say('read'));
    await terminal.output.says('> ');
    terminal.input.write('See: \u001b[200~one\r\ntwo\nthree\u001b[201~');
    terminal.input.write(' and more\r');
    await terminal.output.says('read\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect(await content(model)).toContain('See: one\ntwo\nthree and more');
    expect(terminal.output.text).toContain('\u001b[?2004h');
    expect(terminal.output.text.endsWith('\u001b[?2004l')).toBe(true);
  });

  test('is typed with a backslash or Alt+Enter at the ends of its lines', async () => {
    const { terminal, model, ended } = await chat({}, say('read'));
    await terminal.output.says('> ');
    terminal.type('one\\');
    await terminal.output.says('… ');
    terminal.input.write('two\u001b\r');
    terminal.type('three');
    await terminal.output.says('read\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect(await content(model)).toContain('one\ntwo\nthree');
  });

  test('answers no question by what was pasted into it', async () => {
    const { terminal, ended } = await chat({}, askToStrike, say('as you wish'));
    terminal.type('Strike it');
    await terminal.output.says(asks);
    terminal.input.write('\u001b[200~y\ny\n\u001b[201~');
    terminal.type('no');
    await terminal.output.says('as you wish\n');
    terminal.type('/quit');
    expect(await ended).toBe(0);
    expect(strikes).toEqual([]);
  });
});

test('who resumes a session elsewhere sees its last exchange and where it works', async () => {
  const other = temporaryDirectory();
  const first = await chat({ kind: 'pipe' });
  for (const line of ['What is 40+2?', '/quit']) first.terminal.type(line);
  await first.ended;
  const { terminal, ended } = await chat({ kind: 'pipe', directory: other.path });
  terminal.type('/resume last');
  terminal.input.end();
  expect(await ended).toBe(0);
  expect(terminal.errorOutput.text.split('\n').slice(1)).toEqual([
    `It works in ${home.path}; you are in ${other.path}`,
    '> What is 40+2?',
    '40+2 = 42',
    '',
  ]);
  other.remove();
});

test('/new begins a session that knows nothing of the one before, which stays', async () => {
  const { terminal, model, ended } = await chat({}, say('first answer'), say('second answer'));
  terminal.type('First prompt');
  await terminal.output.says('first answer\n');
  terminal.type('/new');
  await terminal.errorOutput.says(' now, a new one\n');
  terminal.type('Second prompt');
  await terminal.output.says('second answer\n');
  terminal.type('/sessions');
  terminal.type('/quit');
  expect(await ended).toBe(0);
  const asked = JSON.stringify((await model?.asked(2))?.body.messages);
  expect(asked).toContain('Second prompt');
  expect(asked).not.toContain('First prompt');
  for (const text of ['First prompt', 'Second prompt']) expect(terminal.errorOutput.text).toContain(text);
});

test('/model on a resumed session warns that no service has the model', async () => {
  const first = await chat({ kind: 'pipe' });
  for (const line of ['What is 40+2?', '/quit']) first.terminal.type(line);
  await first.ended;
  const { terminal, ended } = await chat({ kind: 'pipe' });
  for (const line of ['/resume last', '/model bogus']) terminal.type(line);
  terminal.input.end();
  expect(await ended).toBe(0);
  expect(terminal.errorOutput.text.split('\n').slice(-3)).toEqual([
    'warning: No service is configured for the model bogus: offline answers in its place.',
    'The model is bogus from now on',
    '',
  ]);
});

describe('commands', () => {
  test('choose model and session, and what is no command is said to be none', async () => {
    const first = await chat({ kind: 'pipe' });
    for (const line of ['What is 40+2?', '/quit']) first.terminal.type(line);
    expect(await first.ended).toBe(0);

    const { terminal, ended } = await chat({ kind: 'pipe' });
    const lines = [
      '/model',
      '/model other',
      '/model',
      '/sessions',
      '/resume',
      '/resume nobody',
      '/frob',
      '/resume last',
    ];
    for (const line of [...lines, 'Now if you double that, what do you get?']) terminal.type(line);
    terminal.input.end();
    expect(await ended).toBe(0);
    expect(terminal.output.text).toBe('42 * 2 = 84\n');
    const said = terminal.errorOutput.text.replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID').split('\n');
    expect(said.filter((line) => !/^ID {2}\d{4}-/.test(line))).toEqual([
      'The model is offline',
      '  offline  Offline model (embedded)',
      'warning: No service is configured for the model other: offline answers in its place.',
      'The model is other from now on',
      'The model is other',
      '  offline  Offline model (embedded)',
      'error: /resume needs the id of a session',
      'error: There is no session nobody',
      'There is no /frob; /help lists the commands',
      'This is session ID now',
      '> What is 40+2?',
      '40+2 = 42',
      '',
    ]);
    expect(said[6]).toMatch(/^ID {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}What is 40\+2\?$/);
  });

  test('a skill of the project is started by its name', async () => {
    const directory = join(home.path, 'project');
    mkdirSync(join(directory, '.github/skills/rhyme'), { recursive: true });
    writeFileSync(
      join(directory, '.github/skills/rhyme/SKILL.md'),
      '---\nname: rhyme\ndescription: Rhymes\n---\nRhyme on what follows.',
    );
    const { terminal, model, ended } = await chat({ kind: 'pipe', directory }, say('sea, tea'));
    terminal.type('/rhyme on bee');
    terminal.input.end();
    expect(await ended).toBe(0);
    expect(terminal.output.text).toBe('sea, tea\n');
    expect(String(model?.requests[0]?.body.messages[1]?.content)).toContain(
      'Rhyme on what follows.\n\n</skill-context>\n\non bee',
    );
  });

  test('/help lists all of them', async () => {
    const { terminal, ended } = await chat({ kind: 'pipe' });
    terminal.type('/help');
    terminal.input.end();
    await ended;
    expect(terminal.errorOutput.text.match(/^\/\w+/gm)).toEqual([
      '/help',
      '/model',
      '/new',
      '/sessions',
      '/resume',
      '/quit',
    ]);
  });
});

describe('lines from a pipe', () => {
  const world = cliWorld();

  test('are prompts, and the next one answers a question; after the last, nothing is allowed', async () => {
    const input = [`Write 'x' to a.txt`, 'y', `Write 'x' to b.txt`, 'n', `Write 'x' to c.txt`].join('\n');
    const { code, stdout } = await world.run([], { input });
    expect({ code, lines: stdout.replaceAll(`${world.workingDirectory}/`, '').split('\n') }).toEqual({
      code: 0,
      lines: [
        'Created file a.txt with 1 characters',
        'The call of create was denied: The user rejected this tool call. User feedback: No.',
        'The call of create was denied: Permission denied and could not request permission from user',
        '',
      ],
    });
  });
});
