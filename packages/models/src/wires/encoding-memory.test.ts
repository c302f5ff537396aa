import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EncodingMemory } from './encoding-memory.js';

test('a source is read once in each way, and anew when it is another object', () => {
  const memory = new EncodingMemory();
  let count = 0;
  const make = () => ({ made: ++count });
  const source = { text: 'a' };
  const first = memory.once(source, make, 'one');
  expect(memory.once(source, make, 'one')).toBe(first);
  expect(memory.once(source, make, 'other')).toEqual({ made: 2 });
  expect(memory.once({ text: 'a' }, make, 'one')).toEqual({ made: 3 });
});

test('a list that grows is read from where it ended, and one that changed anew', () => {
  const memory = new EncodingMemory();
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
      const memory = new EncodingMemory();
      const lists = [start, ...others.map((more) => [...start, ...more]), ...others];
      const folded = lists.map((list) => memory.folded(list, join, 'way'));
      expect(folded).toEqual(lists.map((list) => new EncodingMemory().folded(list, join, 'way')));
    }),
  );
  const memory = new EncodingMemory();
  const [one, two, three] = items;
  if (!one || !two || !three) throw new Error('four were made');
  const [first] = memory.folded([one, two], join, 'way');
  expect(memory.folded([one, two, three], join, 'way')[0]).toBe(first);
});
