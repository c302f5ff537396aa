import { Client, defineTool, RuntimeConnection } from '@groundcrew/sdk';
import { callTools, type ScriptedReply, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { Chat } from '../src/chat/chat.js';
import { Redactor } from '../src/log/redact.js';
import { Display } from '../src/terminal/display.js';
import { LineInput } from '../src/terminal/line-input.js';
import { inProcessWorld } from './in-process-world.js';
import { TestTerminal } from './streams.js';

const { home, script, open } = inProcessWorld();

/** A plain chat of a user, with a model that plays these replies. `asks` is what a tool of the app asks users. */
async function chat(
  options: { readonly asks?: object; readonly isCopilot?: boolean },
  ...replies: readonly ScriptedReply[]
) {
  const terminal = new TestTerminal(home.path, 'terminal');
  const model = script(...replies);
  const environment = options.isCopilot ? { COPILOT_API_URL: model.baseUrl, GH_TOKEN: 'token-1' } : {};
  const runtime = await open({ homeDirectory: home.path, workingDirectory: home.path, environment });
  const client = new Client({ connection: RuntimeConnection.forChannel(() => runtime.channel) });
  const answers: unknown[] = [];
  const ask = defineTool('ask', {
    skipPermission: true,
    handler: async (_given, { sessionId }) => {
      answers.push(
        await client.call('session.ui.elicitation', { message: 'Who are you?', ...options.asks, sessionId }),
      );
      return 'asked';
    },
  });
  const plan = defineTool('plan', {
    skipPermission: true,
    handler: async (_given, { sessionId }) => {
      await client.call('session.mode.set', { sessionId, mode: 'plan' });
      await client.call('session.plan.update', { sessionId, content: '# Steps\n1. Think' });
      return 'planned';
    },
  });
  const config = {
    homeDirectory: home.path,
    streaming: true,
    sessionIdleSeconds: 0,
    allow: [],
    warnings: [],
    ways: [],
    ...(!options.isCopilot && {
      model: 'scripted',
      provider: { source: 'a test', config: { baseUrl: model.baseUrl } },
    }),
  };
  const lines = new LineInput({ input: terminal.input, output: terminal.output, isTerminal: true });
  const display = new Display({ ...terminal, output: terminal.output, redactor: new Redactor() });
  const tools = [ask, plan];
  const given = { client, config, flags: {}, lines, display, isTerminal: true, options: { tools } };
  const ended = new Chat(given, terminal).run().finally(() => lines.close());
  await terminal.output.says('> ');
  terminal.type('Go');
  const end = async () => {
    terminal.type('/quit');
    await ended;
  };
  return { terminal, model, answers, end };
}

const call = (name: string, args: object = {}) => callTools({ id: `c-${name}`, name, arguments: args });

test('a form is filled in field by field, and what does not fit is asked again', async () => {
  const requestedSchema = {
    type: 'object',
    properties: {
      mail: { type: 'string', title: 'Address', format: 'email' },
      age: { type: 'integer' },
      colour: {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'g', title: 'Green' },
        ],
      },
      sizes: { type: 'array', items: { enum: ['s', 'm', 'l'] } },
      sure: { type: 'boolean' },
      note: { type: 'string', default: 'none' },
    },
    required: ['mail', 'age', 'colour', 'sizes', 'sure'],
  };
  const { terminal, answers, end } = await chat({ asks: { requestedSchema } }, call('ask'), say('Thanks'));
  const { output, errorOutput } = terminal;
  /** Types each line when the question has been asked once more. */
  const enter = async (question: string, ...lines: readonly string[]) => {
    for (const line of lines) {
      const count = (asked.get(question) ?? 0) + 1;
      asked.set(question, count);
      await output.says(...Array.from({ length: count }, () => question));
      terminal.type(line);
    }
  };
  const asked = new Map<string, number>();
  const fill = async (mail: string) => {
    await enter('Address (string), ! to decline: ', mail);
    await enter('age (integer), ! to decline: ', 'old', '42');
    await enter('colour (Red, Green), ! to decline: ', 'blue', 'green');
    await enter('sizes (s, m, l), ! to decline: ', 's, x', 's, l');
    await enter('sure (boolean), ! to decline: ', 'perhaps', 'y');
    await enter('note (string; none unless given; may be left out), ! to decline: ', '');
  };
  await fill('nobody');
  await errorOutput.says('Not taken: ', 'content.mail: must be a valid email');
  await fill('ada@example.org');
  await output.says('Thanks');
  const content = {
    mail: 'ada@example.org',
    age: 42,
    colour: 'g',
    sizes: ['s', 'l'],
    sure: true,
    note: 'none',
  };
  expect(answers).toEqual([{ action: 'accept', content }]);
  await end();
});

test.each([
  ['y', 'accept'],
  ['n', 'decline'],
])('a page to visit is shown, and %s is %s', async (typed, action) => {
  const asks = { mode: 'url', message: 'Log in', url: 'https://example.org/login' };
  const { terminal, answers, end } = await chat({ asks }, call('ask'), say('Thanks'));
  await terminal.errorOutput.says('Log in', 'https://example.org/login');
  await terminal.output.says('y when you have been there, n no: ');
  terminal.type(typed);
  await terminal.output.says('Thanks');
  expect(answers).toEqual([{ action }]);
  await end();
});

test.each([
  ['interactive', 'Plan approved'],
  ['make it shorter', 'make it shorter'],
])('a plan is shown, and the model reads what comes of %s', async (typed, read) => {
  const exit = call('exit_plan_mode', { summary: 'One step' });
  const { terminal, model, end } = await chat({}, call('plan'), exit, say('Thanks'));
  await terminal.errorOutput.says('The plan: One step', '# Steps', '1. Think');
  await terminal.output.says('n no, or what to change: ');
  terminal.type(typed);
  await terminal.output.says('Thanks');
  const results = model.requests.at(-1)?.body.messages.filter(({ role }) => role === 'tool');
  expect(JSON.stringify(results?.at(-1))).toContain(read);
  await end();
});

test('a question of the agent is answered by the number of a choice', async () => {
  const question = call('ask_user', { question: 'Tea?', choices: ['Green', 'Black'], allow_freeform: false });
  const { terminal, model, end } = await chat({}, question, say('Thanks'));
  await terminal.errorOutput.says('Tea?', '1  Green', '2  Black');
  await terminal.output.says('1 to 2: ');
  terminal.type('2');
  await terminal.output.says('Thanks');
  expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).toContain('Black');
  await end();
});

test('another model may answer while one is rate limited', async () => {
  const limited: ScriptedReply = {
    type: 'status',
    status: 429,
    body: JSON.stringify({ error: { message: 'weekly', code: 'user_weekly_rate_limited' } }),
    headers: { 'retry-after': '90000' },
  };
  const { terminal, model, end } = await chat({ isCopilot: true }, limited, say('Thanks'));
  await terminal.errorOutput.says('rate limited for 90000 seconds');
  await terminal.output.says('y yes, a always, n no: ');
  terminal.type('y');
  await terminal.output.says('Thanks');
  expect(model.requests.map(({ body }) => body.model)).toEqual(['first-model', 'second-model']);
  await end();
});
