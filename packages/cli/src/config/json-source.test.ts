import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonFault, type JsonNode, parseJson } from './json-source.js';

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
