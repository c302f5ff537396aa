import { isObject } from '@groundcrew/protocol';
import { formats } from '../questions/formats.js';

/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>;

/** A check that may take longer than the thread of a runtime has time for: patterns, and schemas that refer to themselves. */
export class LongCheck extends Error {
  override readonly name = 'LongCheck';
}

/**
 * What is wrong with a value by a schema, with the path to it; undefined when it fits. With `steps` it throws LongCheck
 * where so many are not enough, and before it tries a pattern.
 */
export function misfitOf(value: unknown, schema: Schema, steps?: number): string | undefined {
  return new Examination(schema, steps).examine(value, schema, '$');
}

/** A schema that no answer could be held against. */
class BadSchema extends Error {
  override readonly name = 'BadSchema';
}

/** Throws where a schema has a pattern that is no regular expression: before a model is asked for an answer that fits. */
export function requirePatterns(schema: unknown, path = 'output.schema'): void {
  if (typeof schema !== 'object' || schema === null) return;
  const { pattern, patternProperties } = schema as Schema;
  const written = [
    ...(typeof pattern === 'string' ? [pattern] : []),
    ...(isObject(patternProperties) ? Object.keys(patternProperties) : []),
  ];
  for (const each of written)
    try {
      expressionOf(each);
    } catch {
      throw new BadSchema(`${path}: the pattern ${each.slice(0, 200)} is no regular expression`);
    }
  for (const [name, each] of Object.entries(schema)) requirePatterns(each, `${path}.${name}`);
}

/** Keywords that are held; of others a value may fit or not, and the client that knows them judges. */
class Examination {
  private taken = 0;
  /** A schema that refers to itself without looking further into the value would go on for ever. */
  private depth = 0;

  constructor(
    private readonly root: Schema,
    private readonly steps: number | undefined,
  ) {}

  examine(value: unknown, given: unknown, path: string): string | undefined {
    if (given === true || given === undefined) return undefined;
    if (given === false) return `${path}: nothing may stand here`;
    if (this.depth > deepest) return `${path}: the schema is nested too deeply`;
    this.depth += 1;
    this.step();
    try {
      const schema = this.resolve(given as Schema);
      return (
        basic(value, schema, path) ??
        (typeof value === 'string' ? this.pattern(value, schema, path) : undefined) ??
        this.variants(value, schema, path) ??
        (Array.isArray(value) ? this.list(value, schema, path) : undefined) ??
        (isObject(value) ? this.object(value, schema, path) : undefined)
      );
    } finally {
      this.depth -= 1;
    }
  }

  private step(): void {
    this.taken += 1;
    if (this.steps !== undefined && this.taken > this.steps) throw new LongCheck();
  }

  private matches(pattern: string, value: string): boolean {
    if (this.steps !== undefined) throw new LongCheck();
    return expressionOf(pattern).test(value);
  }

  private pattern(value: string, { pattern }: Schema, path: string): string | undefined {
    if (typeof pattern !== 'string' || this.matches(pattern, value)) return undefined;
    return `${path}: does not match the pattern ${pattern}`;
  }

  private resolve(schema: Schema): Schema {
    const { $ref } = schema;
    if (typeof $ref !== 'string') return schema;
    const steps = $ref
      .split('/')
      .slice(1)
      .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
    const found = steps.reduce<unknown>((at, step) => (isObject(at) ? at[step] : undefined), this.root);
    return isObject(found) ? found : {};
  }

  private variants(value: unknown, schema: Schema, path: string): string | undefined {
    const misfit = (each: unknown) => this.examine(value, each, path);
    for (const each of listIn(schema.allOf)) {
      const found = misfit(each);
      if (found !== undefined) return found;
    }
    const any: string[] = [];
    for (const each of listIn(schema.anyOf)) {
      const found = misfit(each);
      if (found === undefined) break;
      any.push(found);
    }
    if (any.length > 0 && any.length === listIn(schema.anyOf).length) return none(any, path);
    const one = listIn(schema.oneOf).map(misfit);
    if (one.length > 0 && one.filter((each) => each === undefined).length !== 1) return none(one, path);
    if (schema.not !== undefined && misfit(schema.not) === undefined)
      return `${path}: this may not stand here`;
    return undefined;
  }

  private list(items: readonly unknown[], schema: Schema, path: string): string | undefined {
    const { minItems, maxItems, uniqueItems } = schema;
    if (typeof minItems === 'number' && items.length < minItems) return `${path}: needs ${minItems} items`;
    if (typeof maxItems === 'number' && items.length > maxItems)
      return `${path}: has more than ${maxItems} items`;
    if (uniqueItems === true && new Set(items.map((item) => JSON.stringify(item))).size < items.length)
      return `${path}: has an item twice`;
    const first = listIn(schema.prefixItems);
    for (const [index, item] of items.entries()) {
      const misfit = this.examine(
        item,
        index < first.length ? first[index] : schema.items,
        `${path}[${index}]`,
      );
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  }

  private object(value: Schema, schema: Schema, path: string): string | undefined {
    const properties = isObject(schema.properties) ? schema.properties : {};
    for (const name of listIn(schema.required))
      if (typeof name === 'string' && !Object.hasOwn(value, name)) return `${path}.${name}: is missing`;
    const { minProperties, maxProperties } = schema;
    const size = Object.keys(value).length;
    if (typeof minProperties === 'number' && size < minProperties)
      return `${path}: needs ${minProperties} properties`;
    if (typeof maxProperties === 'number' && size > maxProperties)
      return `${path}: has more than ${maxProperties} properties`;
    const patterns = isObject(schema.patternProperties) ? Object.entries(schema.patternProperties) : [];
    for (const [name, each] of Object.entries(value)) {
      const matched = patterns.filter(([pattern]) => this.matches(pattern, name)).map(([, form]) => form);
      const known = Object.hasOwn(properties, name) ? [properties[name], ...matched] : matched;
      if (known.length === 0 && schema.additionalProperties === false)
        return `${path}.${name}: is not expected`;
      for (const form of known.length > 0 ? known : [schema.additionalProperties]) {
        const misfit = this.examine(each, form, `${path}.${name}`);
        if (misfit !== undefined) return misfit;
      }
    }
    return undefined;
  }
}

/** Many write patterns that are none by the stricter rules of JSON Schema; throws SyntaxError for one that is none by any. */
export function expressionOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}

function none(misfits: readonly (string | undefined)[], path: string): string {
  const reasons = misfits.map((each) => each ?? `${path}: fits more than one`).join('; ');
  return `${path}: fits none of ${misfits.length} forms (${reasons.slice(0, longestReason)})`;
}

/** The model reads it. */
const longestReason = 2000;

const deepest = 64;

/** What needs no look into other schemas. */
function basic(value: unknown, schema: Schema, path: string): string | undefined {
  const types = typeof schema.type === 'string' ? [schema.type] : listIn(schema.type);
  if (types.length > 0 && !types.some((type) => isOf(value, type)))
    return `${path}: expected ${types.join(' or ')}, not ${typeOf(value)}`;
  const written = schema.const === undefined && schema.enum === undefined ? '' : JSON.stringify(value);
  const same = (one: unknown) => JSON.stringify(one) === written;
  if (schema.const !== undefined && !same(schema.const))
    return `${path}: expected ${JSON.stringify(schema.const)}`;
  const choices = listIn(schema.enum);
  if (choices.length > 0 && !choices.some(same))
    return `${path}: expected one of ${choices.map((each) => JSON.stringify(each)).join(', ')}`;
  if (typeof value === 'number') return numberMisfit(value, schema, path);
  return typeof value === 'string' ? textMisfit(value, schema, path) : undefined;
}

function numberMisfit(value: number, schema: Schema, path: string): string | undefined {
  const bound = (name: string) => (typeof schema[name] === 'number' ? schema[name] : undefined);
  const [least, most] = [bound('minimum'), bound('maximum')];
  const [above, below, step] = [bound('exclusiveMinimum'), bound('exclusiveMaximum'), bound('multipleOf')];
  if (least !== undefined && value < least) return `${path}: is less than ${least}`;
  if (most !== undefined && value > most) return `${path}: is more than ${most}`;
  if (above !== undefined && value <= above) return `${path}: is not more than ${above}`;
  if (below !== undefined && value >= below) return `${path}: is not less than ${below}`;
  const parts = step ? value / step : 0;
  if (Math.abs(parts - Math.round(parts)) > 1e-9) return `${path}: is no multiple of ${step}`;
  return undefined;
}

function textMisfit(value: string, schema: Schema, path: string): string | undefined {
  const { minLength, maxLength, format } = schema;
  const isOf = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (isOf && !isOf(value)) return `${path}: is no ${format}`;
  const length = [...value].length;
  if (typeof minLength === 'number' && length < minLength) return `${path}: is shorter than ${minLength}`;
  if (typeof maxLength === 'number' && length > maxLength) return `${path}: is longer than ${maxLength}`;
  return undefined;
}

function isOf(value: unknown, type: unknown): boolean {
  if (type === 'integer') return Number.isInteger(value);
  return typeOf(value) === type;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
