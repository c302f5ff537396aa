import { readFileSync } from 'node:fs';
import type { ChatMessage, ModelEvent, ModelRequest, ToolSpec } from '@groundcrew/models';
import { isObject } from '@groundcrew/models';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect } from '../test/collect.js';
import { offlineModel } from './offline-model.js';
import { table } from './pattern-table.js';

const asked = (text: string, stream = false): ModelRequest => ({
  model: 'offline',
  system: '',
  messages: [{ role: 'user', parts: [{ type: 'text', text }] }],
  tools: [
    {
      name: 'echo',
      description: '',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
    },
  ],
  stream,
});

const usage = (inputTokens: number, outputTokens: number) => ({
  inputTokens,
  outputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

test('there is one model, which cannot see', async () => {
  expect(await offlineModel().models()).toEqual([
    { id: 'offline', name: 'Offline model (embedded)', vision: false, contextWindow: 32_768 },
  ]);
});

test('an answer that streams comes word by word', async () => {
  expect(await collect(offlineModel(), asked('Say one two  three', true))).toEqual([
    { type: 'text', delta: 'one' },
    { type: 'text', delta: ' two' },
    { type: 'text', delta: '  three' },
    { type: 'end', reason: 'stop', usage: usage(32, 4), model: 'offline' },
  ]);
});

test('an answer that does not stream comes in one piece', async () => {
  expect(await collect(offlineModel(), asked('Say one two'))).toEqual([
    { type: 'text', delta: 'one two' },
    { type: 'end', reason: 'stop', usage: usage(30, 2), model: 'offline' },
  ]);
});

test('a call that streams is passed on while it is written', async () => {
  const events = await collect(offlineModel(), asked("Use echo with text 'a'", true));
  const callId = expect.stringMatching(/^call_[0-9a-f]{16}_0$/);
  expect(events).toEqual([
    { type: 'tool_call_delta', callId, name: 'echo', delta: '{"text":"a"}' },
    { type: 'tool_call', call: { callId, name: 'echo', argumentsText: '{"text":"a"}' } },
    { type: 'end', reason: 'tool_calls', usage: usage(33, 3), model: 'offline' },
  ]);
});

test('an answer is cut where the request wants it to end', async () => {
  expect(await collect(offlineModel(), { ...asked('Say 123456789'), maxOutputTokens: 2 })).toEqual([
    { type: 'text', delta: '12345678' },
    { type: 'end', reason: 'length', usage: usage(31, 2), model: 'offline' },
  ]);
});

test('an abort ends the answer with its reason', async () => {
  const abort = new AbortController();
  const said: string[] = [];
  const reading = async (): Promise<void> => {
    for await (const [event] of offlineModel().stream(asked('Count to 1000', true), abort.signal)) {
      if (event?.type === 'text') said.push(event.delta);
      if (said.length === 3) abort.abort('enough');
    }
  };
  await expect(reading()).rejects.toBe('enough');
  expect(said.join('')).toBe('1, 2, 3,');
});

test('tools are left alone when the request forbids them', async () => {
  const events = await collect(offlineModel(), {
    ...asked("Use the tool echo with 'a'"),
    toolChoice: 'none',
  });
  expect(events[0]).toEqual({ type: 'text', delta: 'I have no tool named echo. I am offered none.' });
});

test('a long prompt is read in little time', async () => {
  const started = performance.now();
  for (const piece of [
    "'a ",
    '"',
    '(',
    'use ',
    'and 1 + ',
    'in a.txt ',
    '{[',
    'my x is ',
    '<attachment>',
    ' \n',
    '`',
  ])
    await collect(offlineModel(), asked(piece.repeat(100_000 / piece.length)));
  expect(performance.now() - started).toBeLessThan(10_000);
});

test('every row of the table is documented', () => {
  const page = readFileSync(new URL('../../../docs/offline-model.md', import.meta.url), 'utf8');
  expect(table.map(({ example }) => example).filter((example) => !page.includes(example))).toEqual([]);
});

const seed = 20_260_101;
const words = fc.constantFrom(
  ...'use call the tool tools echo look_up with value and then reply exactly: say run `ls` "quoted" \'x\' 3 -1.5 + * / ( ) what is that double it in a.txt for = : , . ? [1,2] {"a":1} true not my name is remember file attached count to 5 times \n'.split(
    ' ',
  ),
);
const sentence = fc.oneof(
  { weight: 5, arbitrary: fc.array(words, { maxLength: 25 }).map((list) => list.join(' ')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 80 }) },
);
const wrapper = fc.constantFrom(
  (text: string) => text,
  (text: string) => `<current_datetime>2026-01-01</current_datetime>\n\n${text}`,
  (text: string) => `${text}\n<tagged_files>\n* /a.txt (1 lines)\n</tagged_files>`,
  (text: string) => `${text}\n<attachment name="t">\nx\n</attachment>`,
);
const parts = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(sentence, wrapper)
        .map(([text, wrap]) => ({ type: 'text' as const, text: wrap(text) })),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'image' as const, mimeType: 'image/png', base64: '' }) },
  ),
  { maxLength: 3 },
);
const names = ['echo', 'look_up', 'view', 'bash', 'getWeather', 'a-b.c'];
const message: fc.Arbitrary<ChatMessage> = fc.oneof(
  parts.map((own) => ({ role: 'user' as const, parts: own })),
  fc.record({
    role: fc.constant('assistant' as const),
    text: sentence,
    toolCalls: fc.array(
      fc.record({ callId: fc.string(), name: fc.constantFrom(...names), argumentsText: fc.string() }),
      { maxLength: 2 },
    ),
  }),
  fc.record({ role: fc.constant('tool' as const), callId: fc.string(), text: sentence }),
);
const instruction = fc
  .array(
    fc.tuple(
      fc.constantFrom('use', 'Call the tool', 'and', ', then use'),
      fc.constantFrom(...names),
      sentence,
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((steps) => steps.map((step) => step.join(' ')).join(' '));
const prompt: fc.Arbitrary<ChatMessage> = fc
  .tuple(instruction, wrapper)
  .map(([text, wrap]) => ({ role: 'user', parts: [{ type: 'text', text: wrap(text) }] }));
const { object } = fc.letrec<{ schema: Record<string, unknown>; object: Record<string, unknown> }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<Record<string, unknown>>(
      { type: 'string' },
      { type: 'number', minimum: 2 },
      { type: 'integer', maximum: -3 },
      { type: 'boolean' },
      { type: ['null', 'string'] },
      { enum: ['red', 'a-b (c|', 7, null] },
      { const: 'fixed' },
      { anyOf: [{ type: 'null' }, { type: 'number' }] },
      { type: 'array', items: { type: 'integer' }, minItems: 1 },
      { type: 'string', default: 5 },
      {},
    ),
    tie('object'),
  ),
  object: fc
    .dictionary(
      fc.constantFrom('value', 'text', 'name', 'a', '', '__proto__', 'x.y(', 'file_path', 'isOn'),
      tie('schema'),
      {
        maxKeys: 4,
        noNullPrototype: true,
      },
    )
    .chain((properties) =>
      fc.subarray(Object.keys(properties)).map((required) => ({ type: 'object', properties, required })),
    ),
}));
const tools: fc.Arbitrary<readonly ToolSpec[]> = fc.uniqueArray(
  fc.record({
    name: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...names) }, fc.string({ maxLength: 5 })),
    description: fc.string(),
    inputSchema: fc.oneof({ weight: 5, arbitrary: object }, fc.jsonValue()),
  }),
  { selector: ({ name }) => name, maxLength: 6 },
);
const request: fc.Arbitrary<ModelRequest> = fc.record({
  model: fc.constant('offline'),
  system: sentence,
  messages: fc
    .tuple(fc.array(message, { maxLength: 6 }), fc.option(prompt, { freq: 3 }))
    .map(([before, last]) => (last ? [...before, last] : before)),
  tools,
  stream: fc.boolean(),
});

/** What is wrong with a value that should be as the schema says; only what the schemas above use. */
function faults(value: unknown, valueType: unknown, at = '$'): readonly string[] {
  if (!isObject(valueType)) return [];
  if (Array.isArray(valueType.anyOf))
    return valueType.anyOf.every((one) => faults(value, one).length > 0) ? [at] : [];
  if ('const' in valueType) return value === valueType.const ? [] : [at];
  if (Array.isArray(valueType.enum)) return valueType.enum.includes(value) ? [] : [at];
  if (Array.isArray(valueType.type)) return value === null || typeof value === 'string' ? [] : [at];
  if (valueType.type === 'array')
    return Array.isArray(value) && value.length > 0
      ? value.flatMap((item, index) => faults(item, valueType.items, `${at}[${index}]`))
      : [at];
  if (valueType.type === 'integer')
    return Number.isInteger(value) && Number(value) <= Number(valueType.maximum ?? value) ? [] : [at];
  if (valueType.type === 'number')
    return typeof value === 'number' && value >= Number(valueType.minimum ?? value) ? [] : [at];
  if (valueType.type !== 'object')
    return valueType.type === undefined || typeof value === valueType.type ? [] : [at];
  if (!isObject(value)) return [at];
  const required = Array.isArray(valueType.required) ? valueType.required : [];
  const missing = required
    .filter((name) => !Object.hasOwn(value, String(name)))
    .map((name) => `${at}.${String(name)}`);
  const properties = isObject(valueType.properties) ? valueType.properties : {};
  return [
    ...missing,
    ...Object.entries(value).flatMap(([name, own]) =>
      Object.hasOwn(properties, name) ? faults(own, properties[name], `${at}.${name}`) : [],
    ),
  ];
}

const callsIn = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []));
const textIn = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === 'text' ? event.delta : '')).join('');

test('any conversation gets an answer with one end, which only calls tools that are offered, with arguments that fit', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (given) => {
      const events = await collect(offlineModel(), given);
      expect(events.flatMap(({ type }, index) => (type === 'end' ? [index] : []))).toEqual([
        events.length - 1,
      ]);
      for (const { name, argumentsText } of callsIn(events)) {
        const offered = given.tools.find((tool) => tool.name === name);
        expect(offered).toBeDefined();
        const fitting =
          isObject(offered?.inputSchema) && offered.inputSchema.type === 'object' ? offered.inputSchema : {};
        expect(faults(JSON.parse(argumentsText), 'required' in fitting ? fitting : {})).toEqual([]);
      }
    }),
    { seed, numRuns: 1000 },
  );
});

test('the same conversation gets the same answer, streamed or not', async () => {
  await fc.assert(
    fc.asyncProperty(request, async (given) => {
      const once = await collect(offlineModel(), { ...given, stream: false });
      expect(await collect(offlineModel(), { ...given, stream: false })).toEqual(once);
      const streamed = await collect(offlineModel(), { ...given, stream: true });
      expect([textIn(streamed), callsIn(streamed), streamed.at(-1)]).toEqual([
        textIn(once),
        callsIn(once),
        once.at(-1),
      ]);
    }),
    { seed, numRuns: 300 },
  );
});

test('a prompt is done after as many rounds as it has steps, whatever the tools give', async () => {
  await fc.assert(
    fc.asyncProperty(request, fc.array(sentence, { minLength: 1, maxLength: 9 }), async (given, results) => {
      const latest = given.messages.findLast(({ role }) => role === 'user');
      const steps = JSON.stringify(latest ?? '').split(/then/i).length;
      const messages: ChatMessage[] = latest ? [latest] : [];
      let rounds = 0;
      for (;;) {
        const calls = callsIn(await collect(offlineModel(), { ...given, messages }));
        if (calls.length === 0) break;
        rounds++;
        messages.push({ role: 'assistant', text: '', toolCalls: calls });
        for (const [index, { callId }] of calls.entries())
          messages.push({ role: 'tool', callId, text: results[(rounds + index) % results.length] ?? '' });
        expect(rounds).toBeLessThanOrEqual(steps);
      }
    }),
    { seed, numRuns: 300 },
  );
});
