import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { readCassette, writeCassette } from './cassette-file.js';
import type { Answer, AnswerPart, Message } from './conversation.js';
import { historyAfter, type ModelExchange } from './exchange.js';
import { Masking } from './masking.js';
import { Secrets } from './secrets.js';
import { temporaryDirectory } from './temporary.js';

const directory = temporaryDirectory();
afterAll(() => directory.remove());

const file = join(directory.path, 'any.yaml');
const masking = new Masking({ workingDirectory: '/nowhere/at/all' }, new Secrets([], {}));

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(
    '',
    'yes',
    '1',
    'null',
    '- a',
    '# no',
    ' a\n b \n',
    '\r\n',
    '\t',
    'a: b',
    '---\n',
    '\u2028\u0085',
    '\n\n',
  ),
);
const call = fc.record({
  id: fc.constantFrom('call_1', 'call_2'),
  name: fc.constantFrom('look', 'take'),
  argumentsText: fc.oneof(text, fc.json()),
});
const pieces = fc.array(
  text.filter((each) => each !== ''),
  { minLength: 1, maxLength: 4 },
);
const part: fc.Arbitrary<AnswerPart> = fc.oneof(
  fc.record({ type: fc.constant('text' as const), pieces }),
  fc.record({ type: fc.constant('thought' as const), pieces, seal: fc.constant('seal_1') }),
  fc.record({ type: fc.constant('call' as const), call }),
);
const answer: fc.Arbitrary<Answer> = fc.record({
  parts: fc.array(part, { maxLength: 3 }),
  ending: fc.constant('complete' as const),
  finish: fc.constantFrom('stop', 'length'),
});
const message: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constantFrom('system' as const, 'user' as const, 'other' as const), text }),
  fc.record({ role: fc.constant('tool' as const), callId: fc.constant('call_1'), text }),
  fc.record({ role: fc.constant('assistant' as const), text, calls: fc.array(call, { maxLength: 2 }) }),
);

test('what is written is read again, however many exchanges continue one another', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.array(message, { maxLength: 3 }), answer), { maxLength: 4 }),
      (rounds) => {
        const exchanges: ModelExchange[] = [];
        for (const [own, said] of rounds) {
          const before = exchanges.at(-1);
          const messages = [...((before && historyAfter(before, masking)) ?? []), ...own];
          exchanges.push({
            type: 'model',
            number: exchanges.length + 1,
            wire: 'openai-chat',
            path: '/chat/completions',
            question: { model: 'm', settings: { n: 1 }, tools: ['a 1'], messages },
            outcome: { type: 'answer', answer: said },
          });
        }
        const cassette = { upstream: 'https://models.test', exchanges };
        writeCassette(file, cassette, masking);
        expect(readCassette(file, masking)).toEqual(cassette);
      },
    ),
    { numRuns: 300 },
  );
});
