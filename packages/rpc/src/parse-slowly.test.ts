import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FramingError } from './errors.js';
import { parseSlowly } from './parse-slowly.js';

const read = (json: string, pieceBytes = 256) => parseSlowly(Buffer.from(json), 20, { pieceBytes });

test('any value is what JSON.parse makes of it, wherever its strings are cut', async () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string().map((text) => text.repeat(20)),
  );
  const anyValue = fc.oneof(
    fc.jsonValue({ stringUnit: 'binary' }),
    anyText,
    fc.dictionary(anyText, fc.jsonValue()),
  );
  const spaces = fc.constantFrom(undefined, 1, '\t');
  await fc.assert(
    fc.asyncProperty(anyValue, fc.integer({ min: 8, max: 40 }), spaces, async (value, pieceBytes, space) => {
      const json = JSON.stringify(value, undefined, space);
      expect(await read(json, pieceBytes)).toEqual(JSON.parse(json));
    }),
    { numRuns: 60 },
  );
});

test('escapes are whole in every piece', async () => {
  const json = `"${'\\u00e9\\ud83d\\ude00\\\\\\n\\"é😀x'.repeat(60)}"`;
  for (let pieceBytes = 8; pieceBytes < 40; pieceBytes += 1)
    expect(await read(json, pieceBytes)).toBe(JSON.parse(json));
});

test('what JSON.parse refuses is refused', async () => {
  const wrong = [
    '',
    '{',
    '[1,]',
    '{"a":1,}',
    '{a:1}',
    '"\n"',
    `"${'x'.repeat(600)}\n"`,
    '01',
    '1 2',
    '[1}',
    '{"a"}',
    'tru',
    '"\\x"',
    '{]',
    '[}',
    'nul',
    '-',
    '"open',
  ];
  for (const json of wrong) {
    expect(() => JSON.parse(json), json).toThrow();
    await expect(read(json), json).rejects.toBeInstanceOf(FramingError);
  }
});

test('nesting and the number of values are bounded', async () => {
  await expect(read(`${'['.repeat(21)}1${']'.repeat(21)}`)).rejects.toThrow('deeper than 20 levels');
  expect(await read(`${'['.repeat(20)}1${']'.repeat(20)}`)).toEqual(
    JSON.parse(`${'['.repeat(20)}1${']'.repeat(20)}`),
  );
  const many = parseSlowly(Buffer.from(`[${'1,'.repeat(100)}1]`), 20, { mostValues: 100 });
  await expect(many).rejects.toThrow('more than 100 values');
});

test('a name that means something to objects is a name, and a large id keeps its digits', async () => {
  const value = await read('{"__proto__":{"a":1},"id":9007199254740993}');
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  expect(Object.entries(value as object)).toEqual([
    ['__proto__', { a: 1 }],
    ['id', 9007199254740993n],
  ]);
});

test('others have their turn while a large message is read', async () => {
  const json = Buffer.from(
    JSON.stringify({ text: 'hello world\n'.repeat(1_000_000), list: Array(100_000).fill({}) }),
  );
  let turns = 0;
  const counting = setInterval(() => {
    turns += 1;
  });
  await parseSlowly(json, 20);
  clearInterval(counting);
  expect(turns).toBeGreaterThan(5);
});
