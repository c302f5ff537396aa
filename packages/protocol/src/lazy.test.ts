import { expect, test, vi } from 'vitest';

const built = vi.hoisted((): string[] => []);

vi.mock('zod/mini', async (original) => {
  const zod = await original<Record<string, unknown>>();
  return Object.fromEntries(Object.entries(zod).map(([name, value]) => [name, counted(name, value)]));
});

test('importing the package builds no schema, and each is built once when first asked for', async () => {
  const { events, methods } = await import('./index.js');
  expect(built).toEqual([]);

  events['session.idle'].data();
  expect(built).toEqual(['boolean', 'optional', 'looseObject']);

  expect(methods.connect.params()).toBe(methods.connect.params());
  expect(events['session.idle'].data()).toBe(events['session.idle'].data());
  expect(built).toEqual(['boolean', 'optional', 'looseObject', 'unknown']);
});

test('the schema of a field is built once, when the first value for it comes', async () => {
  const { methods, read } = await import('./index.js');
  const builtBy = (params: unknown) => {
    built.length = 0;
    read(methods['session.create'].params, params);
    return [...built];
  };
  expect(builtBy({ unknownField: 1 })).toEqual([]);
  expect(builtBy({ tools: [] })).toEqual(['array']);
  expect(builtBy({ tools: [{ name: 'one' }] })).toEqual(['string']);
  expect(builtBy({ tools: [{ name: 'two' }], model: 'large', streaming: true })).toEqual(['boolean']);
  expect(builtBy({ reasoningEffort: 'low' })).toEqual(['string']);
  expect(builtBy({ reasoningEffort: 'high' })).toEqual([]);
});

function counted(name: string, value: unknown): unknown {
  if (typeof value !== 'function' || !/^[a-z]/.test(name)) return value;
  return (...args: readonly unknown[]) => {
    built.push(name);
    return value(...args);
  };
}
