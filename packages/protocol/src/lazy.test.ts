import { expect, test, vi } from 'vitest';

const built = vi.hoisted((): string[] => []);

vi.mock('zod', async (original) => {
  const zod = await original<Record<string, unknown>>();
  return Object.fromEntries(Object.entries(zod).map(([name, value]) => [name, counted(name, value)]));
});

test('importing the package builds no schema, and each is built once when first asked for', async () => {
  const { events, methods } = await import('./index.js');
  expect(built).toEqual([]);

  methods.connect.params();
  expect(built).toEqual(['string', 'boolean', 'looseObject']);

  expect(methods.connect.params()).toBe(methods.connect.params());
  expect(events['session.idle'].data()).toBe(events['session.idle'].data());
  expect(built).toEqual(['string', 'boolean', 'looseObject', 'boolean', 'looseObject']);
});

test('the schema of a list entry is built when the first entry comes', async () => {
  const { methods, read } = await import('./index.js');
  const objects = () => built.filter((name) => name === 'looseObject').length;
  read(methods['session.create'].params, { tools: [] });
  const before = objects();
  read(methods['session.create'].params, { tools: [{ name: 'one' }, { name: 'two' }] });
  read(methods['session.create'].params, { tools: [{ name: 'three' }] });
  expect(objects() - before).toBe(1);
});

function counted(name: string, value: unknown): unknown {
  if (typeof value !== 'function' || !/^[a-z]/.test(name)) return value;
  return (...args: readonly unknown[]) => {
    built.push(name);
    return value(...args);
  };
}
