import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonFault, type JsonNode, mostSourceValues, parseJson, placeIn, placesIn } from './json-source.js';

test('what JSON can say is read as JSON.parse reads it, and each value stands where it is said to', () => {
  const places = (node: JsonNode): readonly JsonNode[] => [
    node,
    ...(node.items ?? []).flatMap(places),
    ...(node.fields ?? []).flatMap((field) => places(field.node)),
  ];
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.constantFrom(undefined, 2), (value, indent) => {
      const source = JSON.stringify(value, undefined, indent);
      const node = parseJson(source);
      expect(node.value).toEqual(JSON.parse(source));
      for (const { at, value: each } of places(node))
        expect(source.slice(at).startsWith(JSON.stringify(each).slice(0, 1))).toBe(true);
    }),
  );
});

test('what JSON.parse refuses is refused, with a place inside the text', () => {
  const pieces = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"a"',
    '1',
    '-',
    'null',
    ' ',
    '\n',
    '"',
    '\\',
    '0x1',
    '1e',
    '\u00a0',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 8 }), (parts) => {
      const source = parts.join('');
      const expected = outcome(() => JSON.parse(source));
      const given = outcome(() => parseJson(source).value);
      const isDuplicate = given instanceof JsonFault && given.message.endsWith('stands here twice');
      if (isDuplicate) return;
      if (!(given instanceof JsonFault)) {
        expect(given).toEqual(expected);
        return;
      }
      expect(expected).toBeInstanceOf(SyntaxError);
      expect(given.at).toBeLessThanOrEqual(source.length);
    }),
    { numRuns: 2000 },
  );
});

function outcome(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return error;
  }
}

test('a text of many names is read in a time that grows with it, and no further than so many values', () => {
  const names = Array.from({ length: 60_000 }, (_, n) => `"name ${n}": ${n}`).join(',\n');
  const source = `{${names}}`;
  const began = performance.now();
  const { fields = [] } = parseJson(source);
  const placeAt = placesIn(source);
  expect(fields.map(({ at }) => placeAt(at).line)).toEqual(fields.map((_, n) => n + 1));
  expect(performance.now() - began).toBeLessThan(5000);
  expect(() => parseJson(source, mostSourceValues)).toThrow(/more than 5000 values/);
});

test('the places of many values are the same in whatever order they are asked for', () => {
  const source = 'a\nbc\n\nd';
  const every = Array.from({ length: source.length + 1 }, (_, at) => at);
  const placeAt = placesIn(source);
  for (const at of [...every, ...every.toReversed()])
    expect([at, placeAt(at)]).toEqual([at, placeIn(source, at)]);
  expect(every.map((at) => placeIn(source, at))).toEqual([
    { line: 1, column: 1 },
    { line: 1, column: 2 },
    { line: 2, column: 1 },
    { line: 2, column: 2 },
    { line: 2, column: 3 },
    { line: 3, column: 1 },
    { line: 4, column: 1 },
    { line: 4, column: 2 },
  ]);
});
