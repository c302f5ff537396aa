import { isObject, property } from '@groundcrew/models';
import { parseJson } from './masked-text.js';

export interface Property {
  readonly name: string;
  readonly valueType: ValueType;
  readonly required: boolean;
}

/** What a JSON Schema says about a value, as far as arguments can be read by it. */
export type ValueType = { readonly preset?: unknown } & (
  | { readonly type: 'string' | 'boolean' | 'null' }
  | { readonly type: 'number'; readonly whole: boolean; readonly least: number; readonly most: number }
  | { readonly type: 'choice'; readonly values: readonly unknown[] }
  | { readonly type: 'array'; readonly items: ValueType; readonly least: number }
  | { readonly type: 'object'; readonly properties: readonly Property[] }
);

/** Reads a schema; what it does not say is taken to be text. References are followed within the schema. */
function valueTypeOf(schema: unknown, root: unknown = schema, depth = 0): ValueType {
  if (!isObject(schema) || depth > deepest) return { type: 'string' };
  const inner = (part: unknown): ValueType => valueTypeOf(part, root, depth + 1);
  const target = typeof schema.$ref === 'string' ? follow(schema.$ref, root) : firstUsable(schema);
  if (target !== undefined) return inner(target);
  if ('const' in schema) return { type: 'choice', values: [schema.const] };
  if (Array.isArray(schema.enum) && schema.enum.length > 0)
    return { type: 'choice', values: schema.enum, preset: schema.default };
  const preset = schema.default ?? (Array.isArray(schema.examples) ? schema.examples[0] : undefined);
  switch (typeName(schema)) {
    case 'integer':
    case 'number':
      return { type: 'number', whole: typeName(schema) === 'integer', ...bounds(schema), preset };
    case 'boolean':
      return { type: 'boolean', preset };
    case 'null':
      return { type: 'null' };
    case 'array': {
      const least =
        typeof schema.minItems === 'number' ? Math.min(Math.max(0, Math.ceil(schema.minItems)), 100) : 0;
      return { type: 'array', items: inner(schema.items), least, preset };
    }
    case 'object':
      return { type: 'object', properties: propertiesOf(schema, inner), preset };
    default:
      return { type: 'string', preset };
  }
}

/** The value in the form the shape wants, text converted; undefined when it cannot be had. */
export function conform(value: unknown, valueType: ValueType): unknown {
  switch (valueType.type) {
    case 'string':
      return typeof value === 'string' ? value : undefined;
    case 'boolean':
      if (typeof value === 'boolean') return value;
      if (/^(?:true|yes|on)$/i.test(String(value))) return true;
      return /^(?:false|no|off)$/i.test(String(value)) ? false : undefined;
    case 'null':
      return value === null || value === 'null' ? null : undefined;
    case 'number': {
      const number = typeof value === 'string' && /^[-+]?[\d.]/.test(value) ? Number(value) : value;
      if (typeof number !== 'number' || !(number >= valueType.least && number <= valueType.most))
        return undefined;
      return !valueType.whole || Number.isInteger(number) ? number : undefined;
    }
    case 'choice':
      return valueType.values.find((one) => one === value || sameWord(one, value));
    case 'array': {
      const items = Array.isArray(value) ? value : listIn(value);
      const fitting = items?.map((item: unknown) => conform(item, valueType.items)) ?? [undefined];
      return fitting.includes(undefined) || fitting.length < valueType.least ? undefined : fitting;
    }
    case 'object': {
      const object = typeof value === 'string' ? parseJson(value) : value;
      return isObject(object)
        ? { ...unknownTo(valueType.properties, object), ...fitted(valueType.properties, object) }
        : undefined;
    }
  }
}

/** The value of a required property about which nothing was said. */
export function plainValue(valueType: ValueType): unknown {
  const preset = valueType.preset === undefined ? undefined : conform(valueType.preset, valueType);
  if (preset !== undefined) return preset;
  switch (valueType.type) {
    case 'string':
      return '';
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'number': {
      const nearest = Math.min(Math.max(0, valueType.least), valueType.most);
      return valueType.whole ? Math.ceil(nearest) : nearest;
    }
    case 'choice':
      return valueType.values[0];
    case 'array':
      return Array.from({ length: valueType.least }, () => plainValue(valueType.items));
    case 'object':
      return fitted(valueType.properties, {});
  }
}

/** Of the given values those that have a property and fit it, and plain ones for what else is required. */
export function fitted(
  properties: readonly Property[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const entries = properties.flatMap(({ name, valueType, required }): [string, unknown][] => {
    const value = Object.hasOwn(given, name) ? conform(given[name], valueType) : undefined;
    if (value !== undefined) return [[name, value]];
    return required ? [[name, plainValue(valueType)]] : [];
  });
  return Object.fromEntries(entries);
}

/** The properties of a tool's arguments. */
export function argumentsOf(schema: unknown): readonly Property[] {
  const valueType = valueTypeOf(schema);
  return valueType.type === 'object' ? valueType.properties : [];
}

const deepest = 8;

function unknownTo(
  properties: readonly Property[],
  object: Record<string, unknown>,
): Record<string, unknown> {
  const known = new Set(properties.map(({ name }) => name));
  return Object.fromEntries(Object.entries(object).filter(([name]) => !known.has(name)));
}

function follow(reference: string, root: unknown): unknown {
  const steps = reference
    .replace(/^#\/?/, '')
    .split('/')
    .filter((step) => step !== '');
  return steps.reduce(property, root) ?? {};
}

function firstUsable(schema: Record<string, unknown>): unknown {
  const options = [schema.anyOf, schema.oneOf, schema.allOf].find(
    (list) => Array.isArray(list) && list.length > 0,
  );
  if (!Array.isArray(options)) return undefined;
  return options.find((option) => property(option, 'type') !== 'null') ?? options[0];
}

function typeName(schema: Record<string, unknown>): unknown {
  if (Array.isArray(schema.type)) return schema.type.find((type) => type !== 'null') ?? 'null';
  if (schema.type !== undefined) return schema.type;
  if (isObject(schema.properties)) return 'object';
  return schema.items === undefined ? 'string' : 'array';
}

function bounds(schema: Record<string, unknown>): { readonly least: number; readonly most: number } {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const above = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : -Infinity;
  const below = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : Infinity;
  return {
    least: Math.max(typeof minimum === 'number' ? minimum : -Number.MAX_VALUE, above),
    most: Math.min(typeof maximum === 'number' ? maximum : Number.MAX_VALUE, below),
  };
}

function propertiesOf(
  schema: Record<string, unknown>,
  inner: (part: unknown) => ValueType,
): readonly Property[] {
  const required = Array.isArray(schema.required)
    ? schema.required.filter((name) => typeof name === 'string')
    : [];
  const own = isObject(schema.properties) ? schema.properties : {};
  return [...new Set([...Object.keys(own), ...required])].map((name) => ({
    name,
    valueType: inner(Object.hasOwn(own, name) ? own[name] : undefined),
    required: required.includes(name),
  }));
}

function sameWord(one: unknown, other: unknown): boolean {
  return (
    typeof one !== 'object' && typeof other === 'string' && String(one).toLowerCase() === other.toLowerCase()
  );
}

function listIn(value: unknown): readonly unknown[] | undefined {
  if (typeof value !== 'string') return undefined;
  const json = parseJson(value);
  if (Array.isArray(json)) return json;
  return value.split(/\s*,\s*(?:and\s+)?|\s+and\s+/).filter((item) => item !== '');
}
