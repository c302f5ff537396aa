import type { ChatMessage, ToolSpec } from '@groundcrew/models';
import { describe, expect, test } from 'vitest';
import { answer } from './answer.js';
import { table } from './pattern-table.js';

const text = { type: 'string' };
const tool = (
  name: string,
  properties: Record<string, unknown>,
  required = Object.keys(properties),
): ToolSpec => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: 'object', properties, required },
});

const builtIn: readonly ToolSpec[] = [
  tool('bash', { command: text, description: text, mode: { enum: ['sync', 'async'] } }, [
    'command',
    'description',
  ]),
  tool('view', { path: text, view_range: { type: 'array', items: { type: 'integer' } } }, ['path']),
  tool('create', { path: text, file_text: text }),
  tool('edit', { path: text, old_str: text, new_str: text }, ['path']),
  tool('web_fetch', { url: text }),
  tool('ask_user', { question: text, choices: { type: 'array', items: text } }, ['question']),
  tool('grep', { pattern: text, path: text }, ['pattern']),
  tool('glob', { pattern: text }),
];

const own: readonly ToolSpec[] = [
  tool('lookup', { key: text, table: text }, ['key']),
  tool('get_weather', { city: text, unit: { enum: ['celsius', 'fahrenheit'] } }, ['city']),
  tool('transform', { value: text, seed: text }),
  tool('echo', { text }),
  tool('add_numbers', { a: { type: 'number' }, b: { type: 'number' } }),
  tool('set_light', {
    room: text,
    on: { type: 'boolean' },
    level: { type: 'integer', minimum: 1, maximum: 10 },
  }),
  tool('db_query', {
    query: {
      type: 'object',
      properties: {
        table: text,
        ids: { type: 'array', items: { type: 'integer' } },
        sortAscending: { type: 'boolean' },
      },
      required: ['table', 'ids', 'sortAscending'],
    },
  }),
  tool('tag', { labels: { type: 'array', items: text }, meta: { type: 'object', properties: {} } }, [
    'labels',
  ]),
  tool('ping_all', {}),
  tool('paint', { colour: { enum: ['red', 'dark-blue', 'a|b('] } }),
];

const offered = [...builtIn, ...own];
const user = (said: string): ChatMessage => ({ role: 'user', parts: [{ type: 'text', text: said }] });
const wrapped = (said: string): ChatMessage =>
  user(`<current_datetime>2026-11-15T18:54:04.421+00:00</current_datetime>\n\n${said}`);
const assistant = (said: string): ChatMessage => ({ role: 'assistant', text: said, toolCalls: [] });

interface Given {
  readonly before?: readonly ChatMessage[];
  readonly tools?: readonly ToolSpec[];
  readonly system?: string;
}

const reply = (said: string | ChatMessage, { before = [], tools = offered, system = '' }: Given = {}) =>
  answer({
    system,
    messages: [...before, typeof said === 'string' ? wrapped(said) : said],
    tools,
  });

function spoken(said: string | ChatMessage, given: Given = {}): string {
  const { type, ...rest } = reply(said, given);
  return type === 'say' && 'text' in rest ? rest.text : JSON.stringify(rest);
}

function called(said: string | ChatMessage, given: Given = {}): readonly unknown[] {
  const answered = reply(said, given);
  return answered.type === 'call'
    ? answered.calls.map((call) => [call.name, call.arguments])
    : [answered.text];
}

/** Goes on until there is an answer in words; every call gives what `result` says. */
function played(said: string, result: (name: string, values: unknown) => string, given: Given = {}) {
  const messages: ChatMessage[] = [wrapped(said)];
  const rounds: string[] = [];
  for (;;) {
    const answered = answer({
      system: '',
      messages,
      tools: given.tools ?? offered,
    });
    if (answered.type === 'say') return { rounds, text: answered.text };
    rounds.push(answered.calls.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`).join(' & '));
    const ids = answered.calls.map((_, index) => `${rounds.length}.${index}`);
    messages.push({
      role: 'assistant',
      text: '',
      toolCalls: answered.calls.map(({ name }, index) => ({
        callId: ids[index] ?? '',
        name,
        argumentsText: '{}',
      })),
    });
    for (const [index, call] of answered.calls.entries())
      messages.push({ role: 'tool', callId: ids[index] ?? '', text: result(call.name, call.arguments) });
  }
}

describe('sums', () => {
  test.each([
    ['What is 1+1?', '1+1 = 2'],
    ['What is 100+200?', '100+200 = 300'],
    ['what is 2 + 3 * 4', '2 + 3 * 4 = 14'],
    ['What is (2 + 3) * 4?', '(2 + 3) * 4 = 20'],
    ['2^10', '2^10 = 1024'],
    ['-2^2', '-2^2 = -4'],
    ['2**3**2', '2^3^2 = 512'],
    ['Calculate 10 % 4', '10 % 4 = 2'],
    ['What is -7 % 3?', '-7 % 3 = -1'],
    ['0.1 + 0.2', '0.1 + 0.2 = 0.3'],
    ['What is 10 / 4?', '10 / 4 = 2.5'],
    ['1/3', '1/3 ≈ 0.333333333333'],
    ['-2/3', '-2/3 ≈ -0.666666666667'],
    ['What is 123456789 * 987654321?', '123456789 * 987654321 = 121932631112635269'],
    ['What is 5 / 0?', '5 / 0 has no value: division by zero is not defined.'],
    ['What is 5 % 0?', '5 % 0 has no value: division by zero is not defined.'],
    ['9^9^9', '9^9^9 has no value: the result is too long to write down.'],
    ['What is two plus two?', '2 + 2 = 4'],
    ['How much is 6 times 7?', '6 * 7 = 42'],
    ['What is 10 divided by 4', '10 / 4 = 2.5'],
    ['2 to the power of 8', '2 ^ 8 = 256'],
    ['What is the square root of 16?', '16 ^ 0.5 = 4'],
    ['What is 15% of 200?', '15 / 100 * 200 = 30'],
    ['Add 5 and 7', '5 + 7 = 12'],
    ['Subtract 3 from 10', '10 - 3 = 7'],
    ['What is 1,000 + 2?', '1000 + 2 = 1002'],
    ['3 × 4 ÷ 2 − 1', '3 * 4 / 2 - 1 = 5'],
    ['What is 3 x 4?', '3 * 4 = 12'],
    ['What is 2+2? Reply with just the number.', '4'],
    ['What is 2+2 and what is 3*3?', '2+2 = 4\n3*3 = 9'],
    ['What is 5+5, then double that', '5+5 = 10\n10 * 2 = 20'],
    ['Hello! What is 1+1?', 'Hello! What can I do for you?\n1+1 = 2'],
  ])('%s', (said, expected) => expect(spoken(said)).toBe(expected));

  test.each([
    ['Now if you double that, what do you get?', '2 * 2 = 4'],
    ['Add 5 to it', '2 + 5 = 7'],
    ['Multiply that by 3.', '2 * 3 = 6'],
    ['What is half of that?', '2 / 2 = 1'],
    ['Square the result', '2 ^ 2 = 4'],
    ['and that minus 10?', '2 - 10 = -8'],
  ])('after 1+1: %s', (said, expected) => {
    const before = [
      wrapped('What is 1+1?'),
      assistant('1+1 = 2'),
      wrapped('Thanks'),
      assistant('You are welcome.'),
    ];
    expect(spoken(said, { before })).toBe(expected);
  });

  test('a number that was never said cannot be doubled', () => {
    expect(spoken('Double that')).toBe('There is no number before this that I could go on from.');
  });
});

describe('phrases', () => {
  test.each([
    ['Say hello', 'hello'],
    ['Say hello.', 'hello'],
    ['Please say hello to Bob', 'hello, Bob'],
    ['Reply with exactly: A. B, then C', 'A. B, then C'],
    ['Reply with exactly: one\ntwo', 'one\ntwo'],
    ["Reply with exactly: 'quoted'", 'quoted'],
    ['Reply with exactly "pong" and nothing else.', 'pong'],
    ['Reply with the word PONG', 'PONG'],
    ['Respond with OK', 'OK'],
    ['Answer only with: yes', 'yes'],
    ['Repeat: What is 1+1?', 'What is 1+1?'],
    ['Repeat after me: use the tool lookup', 'use the tool lookup'],
    ['Say "It\'s fine, then go."', "It's fine, then go."],
    ["Say 'a', then say 'b'", 'a\nb'],
    ['Say "tick" 3 times', 'tick tick tick'],
    ['Count to 5', '1, 2, 3, 4, 5'],
    ['Count from 3 to 5', '3, 4, 5'],
  ])('%s', (said, expected) => expect(spoken(said)).toBe(expected));
});

describe('tools by name', () => {
  test.each<[string, readonly unknown[]]>([
    [
      "Use the tool transform with value 'v' and seed 'x', then reply with the result",
      [['transform', { value: 'v', seed: 'x' }]],
    ],
    ["Use transform with seed 'x' and value 'v'", [['transform', { value: 'v', seed: 'x' }]]],
    ['Call transform with value=v seed=x', [['transform', { value: 'v', seed: 'x' }]]],
    [
      'Call the transform tool with value: hello world, seed: 7',
      [['transform', { value: 'hello world', seed: '7' }]],
    ],
    ['Call transform with {"value":"a b","seed":"c"}', [['transform', { value: 'a b', seed: 'c' }]]],
    [
      'Call echo with {"text":"a"} and echo with {"text":"b"}',
      [
        ['echo', { text: 'a' }],
        ['echo', { text: 'b' }],
      ],
    ],
    ['Use paint with colour dark-blue', [['paint', { colour: 'dark-blue' }]]],
    ["Call transform with 'one' and 'two'", [['transform', { value: 'one', seed: 'two' }]]],
    ["Use the 'echo' tool with text 'hi' and tell me what it says", [['echo', { text: 'hi' }]]],
    [
      "Use tools echo and lookup with key 'k' and text 't'",
      [
        ['echo', { text: 't' }],
        ['lookup', { key: 'k' }],
      ],
    ],
    [
      "Call echo with text 'a' and lookup with key 'b'",
      [
        ['echo', { text: 'a' }],
        ['lookup', { key: 'b' }],
      ],
    ],
    [
      "Call echo with 'a' and echo with 'b'",
      [
        ['echo', { text: 'a' }],
        ['echo', { text: 'b' }],
      ],
    ],
    [
      "Call echo with text 'a'. Call lookup with key 'b'.",
      [
        ['echo', { text: 'a' }],
        ['lookup', { key: 'b' }],
      ],
    ],
    ['Use add_numbers with 2 and 3', [['add_numbers', { a: 2, b: 3 }]]],
    ['Use add_numbers with b=2.5 and a=-1', [['add_numbers', { a: -1, b: 2.5 }]]],
    [
      'Use set_light with room kitchen, on true and level 5',
      [['set_light', { room: 'kitchen', on: true, level: 5 }]],
    ],
    ["Use set_light for room 'hall' with on=false", [['set_light', { room: 'hall', on: false, level: 1 }]]],
    [
      'Use get_weather with city New York and unit Fahrenheit',
      [['get_weather', { city: 'New York', unit: 'fahrenheit' }]],
    ],
    ['Use get_weather for Paris', [['get_weather', { city: 'Paris' }]]],
    ['Use ping_all', [['ping_all', {}]]],
    ["Use tag with labels 'a', 'b' and 'c'", [['tag', { labels: ['a', 'b', 'c'] }]]],
    ['Use tag with labels: ["a","b"]', [['tag', { labels: ['a', 'b'] }]]],
    ['Use tag with labels: red, green', [['tag', { labels: ['red', 'green'] }]]],
    [
      "Perform a DB query for the 'cities' table using IDs 12 and 19, sorting ascending",
      [['db_query', { query: { table: 'cities', ids: [12, 19], sortAscending: true } }]],
    ],
    ['Use echo to encrypt this string: Hello', [['echo', { text: 'Hello' }]]],
    ['Use the bash tool with command `ls -la`', [['bash', { command: 'ls -la', description: '' }]]],
  ])('%s', (said, expected) => expect(called(said)).toEqual(expected));

  test.each<[string, readonly unknown[]]>([
    ["What's the weather in Paris?", [['get_weather', { city: 'Paris' }]]],
    [
      'What is the weather in San Francisco in celsius?',
      [['get_weather', { city: 'San Francisco', unit: 'celsius' }]],
    ],
    ["Tag it with the labels 'x' and 'y'", [['tag', { labels: ['x', 'y'] }]]],
  ])('meant without being named: %s', (said, expected) => expect(called(said)).toEqual(expected));

  test.each([
    ['The weather is nice'],
    ['How is the weather?'],
    ['Write a poem about numbers'],
    ['Do not use ping_all'],
    ['Why did ping_all fail?'],
    ['How do agents work?'],
  ])('not called: %s', (said) => expect(reply(said).type).toBe('say'));

  test('a tool that is not offered is not called', () => {
    expect(spoken("Use the tool teleport with place 'home'", { tools: own.slice(0, 2) })).toBe(
      'I have no tool named teleport. I am offered: lookup, get_weather.',
    );
    expect(spoken('Run `ls`', { tools: [] })).toBe(
      'I am offered no tool that could do this; it would take bash.',
    );
  });

  test('tools are described', () => {
    expect(spoken('Which tools do you have?', { tools: own.slice(0, 2) })).toBe(
      'I am offered these tools: lookup, get_weather.',
    );
    expect(spoken('What does the tool lookup do?')).toBe('lookup: Does lookup.');
  });
});

describe('the workspace', () => {
  const bash = (command: string) => [['bash', { command, description: 'Run a command' }]];
  test.each<[string, readonly unknown[]]>([
    ['Run `echo hello`', bash('echo hello')],
    ["Run 'echo hello' and tell me the output", bash('echo hello')],
    ['Run echo hello', bash('echo hello')],
    ['Run the command: ls -la', bash('ls -la')],
    ['Run git commit -m "two words"', bash('git commit -m "two words"')],
    ['Execute the shell command `pwd`', bash('pwd')],
    ['Use bash to run `date`', bash('date')],
    ['View notes.txt', [['view', { path: 'notes.txt' }]]],
    ['Create a.txt with content "Hi\nthere"', [['create', { path: 'a.txt', file_text: 'Hi\nthere' }]]],
    ['Read the file src/a.ts.', [['view', { path: 'src/a.ts' }]]],
    ['What does README.md say?', [['view', { path: 'README.md' }]]],
    ["Show me the contents of 'my notes.txt'", [['view', { path: 'my notes.txt' }]]],
    ['Read lines 2 to 4 of notes.txt', [['view', { path: 'notes.txt', view_range: [2, 4] }]]],
    [
      "Create a file notes.txt with the content 'hello'",
      [['create', { path: 'notes.txt', file_text: 'hello' }]],
    ],
    ['Create a file called \'a b.txt\' containing "x"', [['create', { path: 'a b.txt', file_text: 'x' }]]],
    [
      'Create hello.txt with the text: Hello there',
      [['create', { path: 'hello.txt', file_text: 'Hello there' }]],
    ],
    ["Write 'hello' to notes.txt", [['create', { path: 'notes.txt', file_text: 'hello' }]]],
    [
      "Replace 'red' with 'blue' in colours.txt",
      [['edit', { path: 'colours.txt', old_str: 'red', new_str: 'blue' }]],
    ],
    [
      "Edit colours.txt: replace 'red' with 'blue'",
      [['edit', { path: 'colours.txt', old_str: 'red', new_str: 'blue' }]],
    ],
    [
      'In colours.txt, change red to blue',
      [['edit', { path: 'colours.txt', old_str: 'red', new_str: 'blue' }]],
    ],
    ['List the files in src/', [['view', { path: 'src/' }]]],
    ['List the files in the current directory', [['view', { path: '.' }]]],
    ['What files are in the folder lib?', [['view', { path: 'lib' }]]],
    ["Search for 'needle' in src/", [['grep', { pattern: 'needle', path: 'src/' }]]],
    ['Grep for needle', [['grep', { pattern: 'needle' }]]],
    ['Find files matching *.ts', [['glob', { pattern: '*.ts' }]]],
    ['List all **/*.md files', [['glob', { pattern: '**/*.md' }]]],
    ['Fetch https://example.com/a', [['web_fetch', { url: 'https://example.com/a' }]]],
    [
      "Ask me to choose between 'tea' and 'coffee' using the ask_user tool. Wait for my response before continuing.",
      [['ask_user', { question: "choose between 'tea' and 'coffee'", choices: ['tea', 'coffee'] }]],
    ],
  ])('%s', (said, expected) => expect(called(said)).toEqual(expected));
});

describe('results', () => {
  test.each([
    ["Use echo with 'x', then reply with the result", 'RESULT x', 'RESULT x'],
    ["Use echo with 'x'", '', 'echo gave no output.'],
    ["Use echo with 'x'", 'Error: it broke', 'The call of echo failed: Error: it broke'],
    [
      'Run `ls`',
      'Permission denied and could not request permission from user',
      'The call of bash was denied: Permission denied and could not request permission from user',
    ],
    ['Run `ls`', 'a.txt\n<shellId: 0 completed with exit code 0>', 'a.txt'],
    ['Run `false`', '\n<exited with exit code 1>', '(exit code 1)'],
    ["Use echo with 'x', then reply with exactly: done", 'RESULT', 'done'],
    ["Use echo with 'x', then say done", 'Error: no', 'The call of echo failed: Error: no\ndone'],
  ])('%s → %s', (said, result, expected) => expect(played(said, () => result).text).toBe(expected));

  test('several results are listed', () => {
    const { rounds, text: said } = played("Call echo with 'a' and lookup with key 'b'", (name) => `${name}!`);
    expect(rounds).toEqual(['echo {"text":"a"} & lookup {"key":"b"}']);
    expect(said).toBe('- echo!\n- lookup!');
  });

  test('steps are done one after the other, and one can go on from another', () => {
    const played1 = played(
      "Use echo with 'a', then use lookup with the result, then tell me the result",
      (name) => `from ${name}`,
    );
    expect(played1).toEqual({
      rounds: ['echo {"text":"a"}', 'lookup {"key":"from echo"}'],
      text: '- echo: from echo\n- lookup: from lookup',
    });
  });

  test('context that comes after results is not a new prompt', () => {
    const before: ChatMessage[] = [
      wrapped("Use echo with 'x'"),
      { role: 'assistant', text: '', toolCalls: [{ callId: '1', name: 'echo', argumentsText: '{}' }] },
      { role: 'tool', callId: '1', text: 'ECHO' },
    ];
    expect(spoken(user('Additional context from preToolUse hook:\nUse lookup'), { before })).toBe('ECHO');
  });
});

describe('attachments', () => {
  const files =
    '\n\n\n\n<tagged_files>\n* /w/notes.txt (3 lines)\n* /w/gone.txt (error: Error: ENOENT: no)\n</tagged_files>';
  const attached = user(
    'What does the attachment say?\n<attachment mimeType="text/plain" name="t.txt">\nhello txt\n</attachment>',
  );
  const selection =
    '<ide_selection>\nThe user has the following text selected in their IDE. This may or may not be related to their request.\nFile: a.txt (line 1)\n```\nalpha\n```\n</ide_selection>\n\n';
  const picture: ChatMessage = {
    role: 'user',
    parts: [
      { type: 'text', text: 'What is in this image?' },
      { type: 'text', text: 'cat.png' },
      { type: 'image', mimeType: 'image/png', base64: 'AAAA' },
    ],
  };
  test.each<[string | ChatMessage, string]>([
    [
      `Which files did I attach?${files}`,
      'Attached file: /w/notes.txt (3 lines)\n\nAttached file: /w/gone.txt (error: Error: ENOENT: no)',
    ],
    [attached, 't.txt says:\nhello txt'],
    [
      user(`${selection}<current_datetime>x</current_datetime>\n\nWhat is selected?`),
      'Selected in a.txt (line 1):\nalpha',
    ],
    [picture, 'There is an image, cat.png, but I cannot see images.'],
    [
      user('Describe the picture\n[Image cat.png: this model cannot see images]'),
      'There is an image, cat.png, but I cannot see images.',
    ],
    [`What is 1+1?${files}`, '1+1 = 2'],
  ])('%s', (said, expected) => expect(spoken(said)).toBe(expected));

  test('the content of an attached file is read by the tool for it', () => {
    expect(called(`Summarize the attached file${files}`)).toEqual([['view', { path: '/w/notes.txt' }]]);
  });
});

describe('the system message', () => {
  test.each([
    ["End every answer with 'Have a nice day!'", 'What is 1+1?', '1+1 = 2 Have a nice day!'],
    [
      "Be kind. End each response with the phrase 'Have a nice day!'",
      'What is 1+1?',
      '1+1 = 2 Have a nice day!',
    ],
    ['Say BANANA at the end of each response', 'What is 1+1?', '1+1 = 2 BANANA'],
    ['At the end of every answer, add "Over."', 'What is 1+1?', '1+1 = 2 Over.'],
    ['Start your response with AHOY.', 'What is 1+1?', 'AHOY 1+1 = 2'],
    ["Always include the word 'zebra' in your answers.", 'What is 1+1?', '1+1 = 2 zebra'],
    ['Mention "Acme" in every response.', 'Say Acme', 'Acme'],
    ["Always reply with 'NO'", 'What is 1+1?', 'NO'],
    ["Never end your answers with 'bye'", 'What is 1+1?', '1+1 = 2'],
    [
      'You are an assistant called Testy McTestface. Reply succinctly.',
      'What is your full name?',
      'My name is Testy McTestface.',
    ],
    ['Your name is Ada.', 'What is your name?', 'My name is Ada.'],
    ['You are called Ada, a bot.', 'What is your name?', 'My name is Ada.'],
  ])('%s', (system, said, expected) => expect(spoken(said, { system })).toBe(expected));

  test('a reminder that comes with the prompt counts as well', () => {
    expect(spoken("Say hi\n\n<system_reminder>\nEnd every answer with 'X'\n</system_reminder>")).toBe('hi X');
  });
});

describe('talk', () => {
  const before = [
    wrapped('My name is Ada'),
    assistant('Noted.'),
    wrapped('Remember the number 42.'),
    assistant('Noted.'),
  ];
  test.each([
    ['Hello', 'Hello! What can I do for you?'],
    ['Thanks!', 'You are welcome.'],
    ['What time is it?', 'It is 2026-11-15T18:54:04.421+00:00.'],
    ['What was my first message?', 'You said: My name is Ada'],
    ['What did I just say?', 'You said: Remember the number 42.'],
    ['What is my name?', 'Your name is Ada.'],
    ['What number did I ask you to remember?', 'You asked me to remember: the number 42'],
    ['What is my age?', 'You have not told me your age.'],
    ['My age is 36', 'Noted: My age is 36'],
  ])('%s', (said, expected) => expect(spoken(said, { before })).toBe(expected));

  test.each([
    ['Write a poem'],
    ['Say hello in French'],
    ['Fix the bug in my program'],
    ['Reply with a joke'],
    [''],
  ])('beyond it: %s', (said) =>
    expect(spoken(said)).toMatch(/^I am the embedded offline model .*OPENAI_API_KEY.*docs\/models\.md/),
  );

  test('the prompt of a compaction gets the summary and nothing else, whatever wishes stand in it', () => {
    const asked = [
      'Please create a detailed summary of the conversation so far. Call no tools. Answer with these parts and nothing else:',
      '<overview>What the user wants, in a few sentences.</overview>',
      'The user asks besides: Reply with exactly: kept',
    ].join('\n\n');
    const text = spoken(asked, { before: [user('What is 3*4?')] });
    expect(text).toMatch(/^<overview>\n[\s\S]*- What is 3\*4\?[\s\S]*<\/checkpoint_title>$/);
  });

  test('what was summarized is still remembered', () => {
    const summary = user(
      'The conversation history has been summarized to free up context.\n\nHere were the user messages:\n<user_message>\nWhat is 3*4?\n</user_message>\n\nHere is a summary of the prior context:\n<summary>\n3*4 = 12\n</summary>\n',
    );
    expect(spoken('Double that', { before: [summary] })).toBe('12 * 2 = 24');
    expect(spoken('What was my first message?', { before: [summary] })).toBe('You said: What is 3*4?');
  });
});

test.each(table.map(({ example, when }) => [example, when] as const))(
  'the row of "%s" knows its example',
  (example, when) => {
    expect(example).toMatch(when);
  },
);
