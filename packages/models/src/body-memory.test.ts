import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BodyMemory } from './body-memory.js';

const value = fc.jsonValue({ maxDepth: 6 });

test('a body is written as JSON.stringify writes it, with parts that were remembered or without', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.oneof(value, fc.constant(undefined))), (body) => {
      const memory = new BodyMemory();
      const source = {};
      const parts = memory.once(source, () => [{ first: body }, { second: [body] }], 'parts');
      const whole = { ...body, parts, nested: { parts: [...parts, body] }, list: [undefined, parts[0]] };
      const plain = JSON.stringify(whole);
      expect(Buffer.concat(memory.write(whole)).toString()).toBe(plain);
      expect(Buffer.concat(memory.write(whole)).toString()).toBe(plain);
    }),
  );
});

test('a source is read once in each way, and anew when it is another object', () => {
  const memory = new BodyMemory();
  let count = 0;
  const make = () => ({ made: ++count });
  const source = { text: 'a' };
  const first = memory.once(source, make, 'one');
  expect(memory.once(source, make, 'one')).toBe(first);
  expect(memory.once(source, make, 'other')).toEqual({ made: 2 });
  expect(memory.once({ text: 'a' }, make, 'one')).toEqual({ made: 3 });
});

test('lists that grow, shrink or change between calls are written as they are, and stay so', () => {
  const items = Array.from({ length: 6 }, (_, index) => ({ text: `item ${index}` }));
  const lists = fc.array(fc.array(fc.constantFrom(...items, 'plain', 7, undefined, null)));
  fc.assert(
    fc.property(lists, (bodies) => {
      const memory = new BodyMemory();
      const asked = bodies.map((messages) => ({ model: 'm', messages, tools: messages.slice(1) }));
      // All are written before one is read: a call may still be on its way while the next is made.
      const written = asked.map((body) => memory.write(body));
      expect(written.map((pieces) => Buffer.concat(pieces).toString())).toEqual(
        asked.map((body) => JSON.stringify(body)),
      );
    }),
  );
});

test('a list that grows is read from where it ended, and one that changed anew', () => {
  const memory = new BodyMemory();
  const read: string[] = [];
  const make = ({ name }: { name: string }) => {
    read.push(name);
    return { made: name };
  };
  const [one, two, three] = ['one', 'two', 'three'].map((name) => ({ name }));
  if (!one || !two || !three) throw new Error('three were made');
  expect(memory.each([one, two], make, 'way')).toEqual([{ made: 'one' }, { made: 'two' }]);
  expect(memory.each([one, two, three], make, 'way').map(({ made }) => made)).toEqual([
    'one',
    'two',
    'three',
  ]);
  expect(memory.each([three, one], make, 'way').map(({ made }) => made)).toEqual(['three', 'one']);
  expect(memory.each([], make, 'way')).toEqual([]);
  expect(read).toEqual(['one', 'two', 'three']);
});

test('a list that is folded is the same whatever was folded before it, and what was made of one stays', () => {
  const items = Array.from({ length: 4 }, (_, index) => ({ name: `item ${index}`, goesOn: index % 2 === 1 }));
  const join = (made: { names: readonly string[] }[], { name, goesOn }: (typeof items)[number]) => {
    const last = made.at(-1);
    if (goesOn && last) made[made.length - 1] = { names: [...last.names, name] };
    else made.push({ names: [name] });
  };
  const growing = fc.array(fc.constantFrom(...items), { maxLength: 12 });
  fc.assert(
    fc.property(growing, fc.array(growing), (start, others) => {
      const memory = new BodyMemory();
      const lists = [start, ...others.map((more) => [...start, ...more]), ...others];
      const folded = lists.map((list) => memory.folded(list, join, 'way'));
      expect(folded).toEqual(lists.map((list) => new BodyMemory().folded(list, join, 'way')));
    }),
  );
  const memory = new BodyMemory();
  const [one, two, three] = items;
  if (!one || !two || !three) throw new Error('four were made');
  const [first] = memory.folded([one, two], join, 'way');
  expect(memory.folded([one, two, three], join, 'way')[0]).toBe(first);
});
