import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ModelEvent } from '../model.js';
import { FrameDecoder, type IncomingAnswer } from './frames.js';
import { ChatAnswer } from './openai-chat/answer.js';
import { RepeatedText } from './repeated-text.js';

const frameOf = (content: string, rest: object = {}) =>
  JSON.stringify({ id: 'a', choices: [{ index: 0, delta: { content } }], ...rest });

test('a frame that repeats the last with another text is read without parsing it', () => {
  const repeated = new RepeatedText();
  repeated.learn(frameOf('one'), [{ type: 'text', delta: 'one' }]);
  expect(['two', '', 'né – 日本 😀'].map((text) => repeated.read(frameOf(text)))).toEqual([
    'two',
    '',
    'né – 日本 😀',
  ]);
});

test('escapes, other fields, other shapes and cut frames are left to the parser', () => {
  const repeated = new RepeatedText();
  repeated.learn(frameOf('one'), [{ type: 'text', delta: 'one' }]);
  const others = [
    frameOf('a "quote"'),
    frameOf('a\nline'),
    frameOf('two', { usage: {} }),
    frameOf('two').slice(0, -1),
    '{"id":"a","choices":[{"index":0,"delta":{"content":"a\u0007"}}]}',
    '{"id":"a","choices":[{"index":0,"delta":{"content":"x","role":"y"}}]}',
  ];
  expect(others.map((frame) => repeated.read(frame))).toEqual(others.map(() => undefined));
});

test.each([
  ['its text stands in it twice', frameOf('one', { title: 'one' }), [{ type: 'text', delta: 'one' }]],
  ['it is the name of a field', '{"one":1,"choices":[]}', [{ type: 'text', delta: 'one' }]],
  ['it told nothing', frameOf('one'), []],
  ['it told reasoning', frameOf('one'), [{ type: 'reasoning', delta: 'one' }]],
] as const)('a frame is no pattern when %s', (_, frame, emitted) => {
  const repeated = new RepeatedText();
  repeated.learn(frame, emitted as readonly ModelEvent[]);
  expect(repeated.read(frame.replace('"one"', '"two"'))).toBeUndefined();
});

test('an answer read with patterns tells what the same answer tells read frame by frame', () => {
  const text = fc.oneof(
    fc.constantFrom('a', 'one', '', '"', '\\', '}', ':"a"', '\n'),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const frame = fc.oneof(
    { arbitrary: text.map((content) => frameOf(content)), weight: 6 },
    { arbitrary: text.map((content) => frameOf(content, { title: 'one' })), weight: 1 },
    { arbitrary: text.map((reasoning) => frameOf('', { choices: [{ delta: { reasoning } }] })), weight: 1 },
    { arbitrary: text.map((content) => frameOf(content, { usage: { prompt_tokens: 1 } })), weight: 1 },
    {
      arbitrary: text.map((content) =>
        JSON.stringify({ choices: [{ delta: { content } }, { delta: { content } }] }),
      ),
      weight: 1,
    },
  );
  fc.assert(
    fc.property(fc.array(fc.array(frame, { minLength: 1, maxLength: 8 }), { maxLength: 6 }), (batches) => {
      const complete = [...batches, ['[DONE]']];
      expect(tell(complete, newAnswer())).toEqual(tell(complete, frameByFrame(newAnswer())));
    }),
  );
});

function newAnswer(): ChatAnswer {
  return new ChatAnswer({ wire: 'openai-chat', newId: () => 'id' });
}

function frameByFrame(answer: ChatAnswer): IncomingAnswer {
  return { add: (frame, events) => answer.add(frame, events), end: (how) => answer.end(how) };
}

function tell(batches: readonly (readonly string[])[], answer: IncomingAnswer): readonly ModelEvent[] {
  const decoder = new FrameDecoder(answer);
  return [...batches.flatMap((batch) => decoder.take(batch)), ...decoder.end()];
}
