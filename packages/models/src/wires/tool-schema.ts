import { isObject } from '../json.js';

/** What services refuse at the top of a schema, though not below it. */
const refusedAtTop = ['oneOf', 'anyOf', 'allOf', 'not', 'enum'];

/** A JSON Schema of an object. */
export interface ObjectSchema {
  readonly type: 'object';
  readonly [keyword: string]: unknown;
}

/** A tool's input schema as every service takes it: an object with properties, and no choice at its top. */
export function objectSchema(schema: unknown): ObjectSchema {
  if (!isObject(schema)) return { type: 'object', properties: {} };
  const kept = Object.entries(schema).filter(([keyword]) => !refusedAtTop.includes(keyword));
  return { ...Object.fromEntries(kept), type: 'object', properties: schema.properties ?? {} };
}
