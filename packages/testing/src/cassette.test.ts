import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { record } from './recorder.js';
import { replay } from './replayer.js';
import { scriptedModel } from './scripted-model.js';
import { answer, callTools, hangUp, refuse, type ScriptedReply, say } from './scripted-reply.js';
import { maskNamed as mask } from './secrets.js';
import { framesIn } from './sse.js';
import { temporaryDirectory } from './temporary.js';
import type { WireName } from './wires/wire.js';
import { wireNamed } from './wires/wires.js';

let directory = temporaryDirectory();
let file = '';
beforeEach(() => {
  directory = temporaryDirectory();
  file = join(directory.path, 'cassettes', 'talk.yaml');
  vi.stubEnv('CI', '');
});
afterEach(() => {
  directory.remove();
  vi.unstubAllEnvs();
});

interface Talk {
  readonly wire: WireName;
  readonly path: string;
  /** The request after so many rounds; call ids are as this run has them. */
  body(rounds: number, callId: string): Readonly<Record<string, unknown>>;
}

const tool = { name: 'look', description: 'Looks', parameters: { type: 'object' } };

const talks: readonly Talk[] = [
  {
    wire: 'openai-chat',
    path: '/v1/chat/completions',
    body: (rounds, callId) => ({
      model: 'gpt-x',
      temperature: 0,
      tools: [{ type: 'function', function: tool }],
      messages: [
        { role: 'system', content: 'Be brief.\nBe kind.' },
        { role: 'user', content: 'What is there?' },
        ...(rounds > 0
          ? [
              {
                role: 'assistant',
                content: null,
                tool_calls: [
                  { id: callId, type: 'function', function: { name: 'look', arguments: '{"at":1}' } },
                ],
              },
              { role: 'tool', tool_call_id: callId, content: 'a box' },
            ]
          : []),
      ],
    }),
  },
  {
    wire: 'openai-responses',
    path: '/v1/responses',
    body: (rounds, callId) => ({
      model: 'gpt-x',
      store: false,
      instructions: 'Be brief.\nBe kind.',
      tools: [{ type: 'function', ...tool }],
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'What is there?' }] },
        ...(rounds > 0
          ? [
              { type: 'function_call', call_id: callId, name: 'look', arguments: '{"at":1}' },
              { type: 'function_call_output', call_id: callId, output: 'a box' },
            ]
          : []),
      ],
    }),
  },
  {
    wire: 'anthropic-messages',
    path: '/v1/messages',
    body: (rounds, callId) => ({
      model: 'claude-x',
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.\nBe kind.' }],
      tools: [{ name: 'look', description: 'Looks', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'What is there?' }] },
        ...(rounds > 0
          ? [
              {
                role: 'assistant',
                content: [{ type: 'tool_use', id: callId, name: 'look', input: { at: 1 } }],
              },
              { role: 'user', content: [{ type: 'tool_result', tool_use_id: callId, content: 'a box' }] },
            ]
          : []),
      ],
    }),
  },
];

async function post(url: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });
}

async function recorded(
  replies: readonly ScriptedReply[],
  work: (origin: string) => Promise<void>,
  options: Partial<Parameters<typeof record>[0]> = {},
): Promise<string> {
  await using model = await scriptedModel(...replies);
  const recording = await record({ upstream: `${model.baseUrl}/v1`, file, ...options });
  await work(new URL(recording.baseUrl).origin);
  await recording.close();
  expect(recording.problems).toEqual([]);
  return readFileSync(file, 'utf8').replace(/upstream: .*/, 'upstream: …');
}

const [chat] = talks as readonly [Talk, ...Talk[]];

describe.each(talks)('by $wire', ({ wire, path, body }) => {
  const script = [
    answer({
      thoughts: ['let ', 'me see'],
      pieces: ['I ', 'look.'],
      calls: [{ name: 'look', arguments: { at: 1 }, id: 'toolu_Xyz' }],
    }),
    say('There ', 'is a ', 'box.'),
  ];
  const read = async (response: Response) => {
    const text = await response.text();
    const isStream = response.headers.get('content-type') === 'text/event-stream';
    return isStream
      ? wireNamed(wire).readStream(framesIn(text))
      : wireNamed(wire).readWhole(JSON.parse(text));
  };

  test.each([
    ['whole', {}],
    ['streamed', { stream: true }],
  ])(
    'an answer recorded %s is played back streamed and whole, as often as it was recorded',
    async (_name, how) => {
      const live: unknown[] = [];
      await recorded(script, async (origin) => {
        live.push(await read(await post(origin + path, { ...body(0, ''), ...how })));
        live.push(await read(await post(origin + path, { ...body(1, 'toolu_Xyz'), ...how })));
      });
      for (const again of [how, { stream: true }, {}]) {
        await using cassette = await replay({ file });
        const { origin } = new URL(cassette.baseUrl);
        const first = await read(await post(origin + path, { ...body(0, ''), ...again }));
        const second = await read(await post(origin + path, { ...body(1, 'call_1'), ...again }));
        const text = JSON.stringify(live)
          .replaceAll('toolu_Xyz', 'call_1')
          .replaceAll('"scripted"', '"seal_1"');
        if (again === how)
          expect([first, second]).toEqual(
            JSON.parse(text.replaceAll('"model":"seal_1"', '"model":"scripted"')),
          );
        expect(second.parts.flatMap((part) => ('pieces' in part ? part.pieces : [])).join('')).toBe(
          'There is a box.',
        );
        expect([second.finish, second.usage]).toEqual([expect.any(String), expect.any(Object)]);
        cassette.verify();
      }
    },
  );

  test('a request that was not recorded is refused, with the first message that differs', async () => {
    await recorded([say('Nothing.')], async (origin) => {
      await (await post(origin + path, body(0, ''))).text();
    });
    await using cassette = await replay({ file });
    const other = JSON.parse(JSON.stringify(body(0, '')).replace('What is there?', 'What is here?'));
    const response = await post(new URL(cassette.baseUrl).origin + path, other);
    const problem = [
      'Not recorded in talk.yaml. The nearest is exchange 1 (- recorded, + asked now).',
      'Message 2 of 2 (user) differs first:',
      '- What is there?',
      '+ What is here?',
    ].join('\n');
    expect([response.status, response.headers.get('x-should-retry')]).toEqual([404, 'false']);
    expect(await response.json()).toMatchObject({ error: { message: problem } });
    expect(cassette.problems).toEqual([problem]);
    expect(() => cassette.verify()).toThrow(
      `talk.yaml was not replayed as recorded.\n\n${problem}\n\nNot asked for: exchange 1, whose last message (user) is "What is there?".`,
    );
  });
});

test('a cassette reads like a conversation', async () => {
  const text = await recorded(
    [
      answer({ pieces: ['I ', 'look.'], calls: [{ name: 'look', arguments: { at: 1 }, id: 'call_Xyz' }] }),
      say('There is a box.'),
    ],
    async (origin) => {
      await (await post(origin + chat.path, { ...chat.body(0, ''), stream: true })).text();
      const history = JSON.parse(JSON.stringify(chat.body(1, 'call_Xyz')).replace('null', '"I look."'));
      await (await post(origin + chat.path, history)).text();
    },
  );
  expect(
    text,
  ).toBe(`# A recorded conversation with a model: requests are compared with it, answers are played back.
# An exchange that continues another one has all its messages and its answer before its own.
cassette: 1
upstream: …
exchanges:
  - exchange: 1
    path: /chat/completions
    model: gpt-x
    settings:
      temperature: 0
    tools:
      - look 2b8b02cb3e9a
    messages:
      - system: |-
          Be brief.
          Be kind.
      - user: What is there?
    answer:
      - text: I look.
        pieces: 2 5
      - call: look
        id: call_1
        arguments:
          at: 1
    finish: tool_calls
    usage:
      prompt_tokens: 7
      completion_tokens: 3
      total_tokens: 10
  - exchange: 2
    continues: 1
    messages:
      - result: a box
        of: call_1
    answer:
      - text: There is a box.
    finish: stop
    usage:
      prompt_tokens: 7
      completion_tokens: 3
      total_tokens: 10
`);
});

test('an answer is passed on as it comes', async () => {
  let release = (): void => undefined;
  const ready = new Promise<void>((resolve) => {
    release = resolve;
  });
  const encoder = new TextEncoder();
  const first = 'data: {"choices":[{"delta":{"content":"one"}}]}\n\n';
  const upstream = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(encoder.encode(first));
      await ready;
      controller.enqueue(encoder.encode('data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n'));
      controller.close();
    },
  });
  const headers = { 'content-type': 'text/event-stream' };
  await using recording = await record({
    upstream: 'https://models.test/v1',
    file,
    fetch: async () => new Response(upstream, { headers }),
  });
  const response = await post(`${recording.baseUrl}/chat/completions`, { ...chat.body(0, ''), stream: true });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe(first);
  release();
  expect((await reader.read()).done).toBe(false);
});

test('failures and broken streams are played back as they were', async () => {
  await recorded([refuse(429, 'slow down', { 'retry-after': '3' }), hangUp('ha', 'lf')], async (origin) => {
    await (await post(origin + chat.path, chat.body(0, ''))).text();
    const broken = await post(origin + chat.path, { ...chat.body(0, ''), stream: true });
    await expect(broken.text()).rejects.toThrow('terminated');
  });
  await using cassette = await replay({ file });
  const { origin } = new URL(cassette.baseUrl);
  const refused = await post(origin + chat.path, chat.body(0, ''));
  expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([
    429,
    '3',
    '{"error":{"message":"slow down","type":"scripted","code":"scripted"}}',
  ]);
  const broken = await post(origin + chat.path, { ...chat.body(0, ''), stream: true });
  await expect(broken.text()).rejects.toThrow('terminated');
  cassette.verify();
});

test('a caller that left in the middle may do so again', async () => {
  const upstream: typeof fetch = async (_url, init) => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('data: {"choices":[{"delta":{"content":"one"}}]}\n\n'));
        init?.signal?.addEventListener('abort', () => controller.error(init.signal?.reason));
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  };
  const readAndClose = async (origin: string) => {
    const response = await post(origin + chat.path, { ...chat.body(0, ''), stream: true });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toContain('"one"');
    await reader.cancel();
  };
  const text = await recorded([], readAndClose, { fetch: upstream });
  expect(text).toContain('ending: abandoned');
  await using cassette = await replay({ file });
  await readAndClose(new URL(cassette.baseUrl).origin);
  cassette.verify();
});

test('what was asked once is answered once', async () => {
  await recorded([say('Nothing.')], async (origin) => {
    await (await post(origin + chat.path, chat.body(0, ''))).text();
  });
  await using cassette = await replay({ file });
  const url = new URL(cassette.baseUrl).origin + chat.path;
  expect((await post(url, chat.body(0, ''))).status).toBe(200);
  const again = await post(url, chat.body(0, ''));
  expect([again.status, await again.text()]).toEqual([404, expect.stringContaining('was played already')]);
});

test('other calls are kept too, and may be repeated', async () => {
  await recorded([], async (origin) => {
    expect((await fetch(`${origin}/v1/models`)).status).toBe(200);
  });
  await using cassette = await replay({ file });
  const list = () => fetch(`${cassette.baseUrl}/models`).then((response) => response.json());
  expect([await list(), await list()]).toEqual([
    { data: [{ id: 'scripted' }] },
    { data: [{ id: 'scripted' }] },
  ]);
  cassette.verify();
  expect((await fetch(`${cassette.baseUrl}/files`)).status).toBe(404);
  expect(cassette.problems).toEqual(['Not recorded in talk.yaml: GET /files']);
});

test('directories, ids and times of one run are those of the next', async () => {
  const run = (work: string, id: string, time: string) => ({
    model: 'm',
    messages: [
      { role: 'system', content: `You work in ${work}/src. It is ${time}, ${time.slice(0, 10)}.` },
      { role: 'user', content: `Close ticket ${id}; it was opened 1999-12-31T10:00:00Z` },
    ],
  });
  const ids = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] as const;
  const call = {
    name: 'close',
    arguments: { id: ids[0], log: '/data/one/log', script: mask('workdir') },
    id: 'c1',
  };
  const text = await recorded(
    [callTools(call)],
    async (origin) => {
      const now = new Date().toISOString();
      await (await post(origin + chat.path, run('/data/one', ids[0], now))).text();
    },
    { workingDirectory: '/data/one' },
  );
  expect(text).toContain(
    `- system: You work in ${mask('workdir')}/src. It is ${mask('time')}, ${mask('today')}.`,
  );
  expect(text).toContain(`- user: Close ticket ${mask('uuid-1')}; it was opened 1999-12-31T10:00:00Z`);
  await using cassette = await replay({ file, workingDirectory: '/data/two' });
  const later = new Date(Date.now() + 1000).toISOString();
  const answered = await post(new URL(cassette.baseUrl).origin + chat.path, run('/data/two', ids[1], later));
  const [part] = wireNamed('openai-chat').readWhole((await answered.json()) as Record<string, unknown>).parts;
  const args = JSON.stringify({ id: ids[1], log: '/data/two/log', script: mask('workdir') });
  expect(part).toEqual({ type: 'call', call: { id: 'call_1', name: 'close', argumentsText: args } });
});

test('what may differ is said, and then does not matter', async () => {
  await recorded([say('Nothing.')], async (origin) => {
    await (await post(origin + chat.path, chat.body(0, ''))).text();
  });
  const changed = JSON.parse(
    JSON.stringify({ ...chat.body(0, ''), model: 'gpt-y', temperature: 1, tools: [] }).replace(
      'Be brief',
      'Be long',
    ),
  );
  await using strict = await replay({ file });
  const refused = await post(new URL(strict.baseUrl).origin + chat.path, changed);
  expect(((await refused.json()) as { error: { message: string } }).error.message).toBe(
    [
      'Not recorded in talk.yaml. The nearest is exchange 1 (- recorded, + asked now).',
      'Message 1 of 2 (system) differs first:',
      '- Be brief.',
      '+ Be long.',
      '  Be kind.',
      'The model differs:',
      '- gpt-x',
      '+ gpt-y',
      'The tools differ:',
      '- look 2b8b02cb3e9a',
      '+ (nothing)',
      'The settings differ:',
      '  {',
      '-   "temperature": 0',
      '+   "temperature": 1',
      '  }',
    ].join('\n'),
  );
  await using lenient = await replay({ file, ignore: ['model', 'system', 'tools', 'settings'] });
  expect((await post(new URL(lenient.baseUrl).origin + chat.path, changed)).status).toBe(200);
});

describe('nothing is recorded', () => {
  test.each(['true', '1'])('where CI is %s', async (value) => {
    vi.stubEnv('CI', value);
    await expect(record({ upstream: 'https://models.test', file })).rejects.toThrow(
      `CI is set, and nothing is recorded there: record ${file} on your machine and keep it with the tests`,
    );
  });

  test('of an API that cannot be reached, and the caller is answered', async () => {
    const recording = await record({ upstream: 'http://127.0.0.1:9', file });
    const response = await post(`${recording.baseUrl}/chat/completions`, chat.body(0, ''));
    expect(response.status).toBe(502);
    await recording.close();
    expect(recording.problems).toEqual([expect.stringContaining('Cannot reach http://127.0.0.1:9')]);
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });
});

test.each([
  ['no cassette at all', 'hello: 1', 'it does not begin with cassette: 1'],
  [
    'an exchange without a path',
    'cassette: 1\nexchanges:\n  - messages: []',
    'exchanges[0].path is of no known model API',
  ],
  [
    'a message of nobody',
    'cassette: 1\nexchanges:\n  - path: /responses\n    messages: [{ bystander: hi }]',
    'exchanges[0].messages[0] needs one of system, user, assistant, result or other, with a text',
  ],
  [
    'a call without an answer',
    'cassette: 1\nexchanges:\n  - path: /responses\n    messages: []',
    'exchanges[0] has neither an answer nor a failure',
  ],
])('a file with %s is refused by name', async (_name, content, reason) => {
  const bad = join(directory.path, 'bad.yaml');
  writeFileSync(bad, content);
  await expect(replay({ file: bad })).rejects.toThrow(reason);
});
