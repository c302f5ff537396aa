import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BodyWriter } from './body-writer.js';

const value = fc.jsonValue({ maxDepth: 6 });

test('a body is written as JSON.stringify writes it, the first time and the next', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(value, fc.constant(undefined))), (body) => {
      const writer = new BodyWriter();
      const whole = { ...body, nested: { parts: [body] }, list: [undefined, body] };
      const plain = JSON.stringify(whole);
      expect(Buffer.concat(writer.write(whole)).toString()).toBe(plain);
      expect(Buffer.concat(writer.write(whole)).toString()).toBe(plain);
    }),
  );
});

test('lists that grow, shrink or change between calls are written as they are, and stay so', () => {
  const items = Array.from({ length: 6 }, (_, index) => ({ text: `item ${index}` }));
  const lists = fc.array(fc.array(fc.constantFrom(...items, 'plain', 7, undefined, null)));
  fc.assert(
    fc.property(lists, (bodies) => {
      const writer = new BodyWriter();
      const asked = bodies.map((messages) => ({ model: 'm', messages, tools: messages.slice(1) }));
      // All are written before one is read: a call may still be on its way while the next is made.
      const written = asked.map((body) => writer.write(body));
      expect(written.map((pieces) => Buffer.concat(pieces).toString())).toEqual(
        asked.map((body) => JSON.stringify(body)),
      );
    }),
  );
});
