import fc from 'fast-check';
import { expect, test } from 'vitest';

test('a property test without a seed of its own has the same cases in every run', () => {
  const casesOf = () => {
    const cases: number[] = [];
    fc.assert(fc.property(fc.integer(), (value) => void cases.push(value)));
    return cases;
  };
  const cases = casesOf();
  expect(casesOf()).toEqual(cases);
});
