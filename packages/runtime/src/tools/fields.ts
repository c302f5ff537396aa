import { isObject, type JsonObject } from '@groundcrew/protocol';
import { ToolInputError } from './tool.js';

/** One parameter of a tool: how the model reads about it, and what may be in it. */
export interface Field<T> {
  readonly schema: JsonObject;
  readonly isOptional: boolean;
  /** What is wrong with a value; undefined when it fits. */
  problem(value: unknown): string | undefined;
  /** Only there for the type. */
  readonly type?: T;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;

/** What a tool is given once its fields have been checked. */
export type Input<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** Plain text. */
export function text(description: string): Field<string> {
  return field({ type: 'string', description }, (value) => expected('string', value));
}

/** A number within bounds. */
export function number(
  description: string,
  bounds: { readonly minimum?: number; readonly maximum?: number } = {},
): Field<number> {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = bounds;
  return field({ type: 'number', description, ...bounds }, (value) => {
    if (typeof value !== 'number') return expected('number', value);
    if (value < minimum) return `Number must be greater than or equal to ${minimum}`;
    return value > maximum ? `Number must be less than or equal to ${maximum}` : undefined;
  });
}

/** Yes or no. */
export function flag(description: string): Field<boolean> {
  return field({ type: 'boolean', description }, (value) => expected('boolean', value));
}

/** One of a few words. */
export function choice<const T extends string>(description: string, words: readonly T[]): Field<T> {
  return field({ type: 'string', enum: words, description }, (value) => {
    if (words.some((word) => word === value)) return undefined;
    const known = words.map((word) => `'${word}'`).join(' | ');
    return typeof value === 'string'
      ? `Invalid enum value. Expected ${known}, received '${value}'`
      : `Expected ${known}, received ${typeName(value)}`;
  });
}

/** A list of exactly two whole numbers. */
export function pair(description: string): Field<readonly [number, number]> {
  const schema = { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 2, description };
  return field(schema, (value) => {
    if (!Array.isArray(value)) return expected('array', value);
    if (value.length !== 2) return 'Array must contain exactly 2 element(s)';
    return value.every(Number.isInteger) ? undefined : 'Expected whole numbers';
  });
}

/** A list of texts. */
export function list(description: string): Field<readonly string[]> {
  return field({ type: 'array', items: { type: 'string' }, description }, (value) => {
    if (!Array.isArray(value)) return expected('array', value);
    return value.every((one) => typeof one === 'string') ? undefined : 'Expected a list of texts';
  });
}

/** One text or a list of texts. */
export function texts(description: string): Field<string | readonly string[]> {
  const list: JsonObject = { type: 'array', items: { type: 'string' } };
  const schema: JsonObject = { anyOf: [{ type: 'string' }, list], description };
  return field(schema, (value) => {
    const each: readonly unknown[] = Array.isArray(value) ? value : [value];
    return each.every((one) => typeof one === 'string') ? undefined : 'Expected text or a list of texts';
  });
}

/** May be left out; `null` is as good as that. */
export function optional<T>(inner: Field<T>): Field<T | undefined> {
  return {
    schema: inner.schema,
    isOptional: true,
    problem: (value) => (value === undefined || value === null ? undefined : inner.problem(value)),
  };
}

/** The JSON Schema of all fields together. */
export function schemaOf(fields: Fields): JsonObject {
  const entries = Object.entries(fields);
  const required = entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}

/** Checks what a model wrote; what no field names is left out. Throws ToolInputError. */
export function parseInput<F extends Fields>(fields: F, input: unknown): Input<F> {
  if (!isObject(input)) throw new ToolInputError(`Expected object, received ${typeName(input)}`);
  const names = Object.keys(fields);
  const problems = names.flatMap((name) => problemOf(name, fields[name], input[name]) ?? []);
  if (problems.length > 0) throw new ToolInputError(problems.join('; '));
  // Every field has been checked against its own type.
  return Object.fromEntries(names.map((name) => [name, input[name] ?? undefined])) as Input<F>;
}

function problemOf(name: string, field: Field<unknown> | undefined, value: unknown): string | undefined {
  const isMissing = value === undefined || (value === null && field?.isOptional === false);
  const problem = isMissing && !field?.isOptional ? 'Required' : field?.problem(value);
  return problem === undefined ? undefined : `"${name}": ${problem}`;
}

function field<T>(schema: JsonObject, problem: (value: unknown) => string | undefined): Field<T> {
  return { schema, isOptional: false, problem };
}

function expected(type: 'string' | 'number' | 'boolean' | 'array', value: unknown): string | undefined {
  return typeName(value) === type ? undefined : `Expected ${type}, received ${typeName(value)}`;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}
