import { isObject } from '@groundcrew/protocol';

/** A JSON Schema, or a part of one. */
export type Schema = Readonly<Record<string, unknown>>;

/** What is wrong with a value by a schema, with the path to it; undefined when it fits. */
export function misfitOf(value: unknown, schema: Schema): string | undefined {
  return new Examination(schema).examine(value, schema, '$');
}

/** Keywords that are held; of others a value may fit or not, and the client that knows them judges. */
class Examination {
  /** A schema that refers to itself without looking further into the value would go on for ever. */
  private depth = 0;

  constructor(private readonly root: Schema) {}

  examine(value: unknown, given: unknown, path: string): string | undefined {
    if (given === true || given === undefined) return undefined;
    if (given === false) return `${path}: nothing may stand here`;
    if (this.depth > deepest) return `${path}: the schema is nested too deeply`;
    this.depth += 1;
    try {
      const schema = this.resolve(given as Schema);
      return (
        basic(value, schema, path) ??
        this.variants(value, schema, path) ??
        (Array.isArray(value) ? this.list(value, schema, path) : undefined) ??
        (isObject(value) ? this.object(value, schema, path) : undefined)
      );
    } finally {
      this.depth -= 1;
    }
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
    const fits = (each: unknown) => this.examine(value, each, path) === undefined;
    for (const each of listIn(schema.allOf)) {
      const misfit = this.examine(value, each, path);
      if (misfit !== undefined) return misfit;
    }
    const any = listIn(schema.anyOf);
    if (any.length > 0 && !any.some(fits)) return this.none(value, any, path);
    const one = listIn(schema.oneOf);
    if (one.length > 0 && one.filter(fits).length !== 1) return this.none(value, one, path);
    if (schema.not !== undefined && fits(schema.not)) return `${path}: this may not stand here`;
    return undefined;
  }

  private none(value: unknown, variants: readonly unknown[], path: string): string {
    const reasons = variants.map((each) => this.examine(value, each, path) ?? `${path}: fits more than one`);
    return `${path}: fits none of ${variants.length} forms (${reasons.join('; ')})`;
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
    for (const [name, each] of Object.entries(value)) {
      const isKnown = Object.hasOwn(properties, name);
      if (!isKnown && schema.additionalProperties === false) return `${path}.${name}: is not expected`;
      const misfit = this.examine(
        each,
        isKnown ? properties[name] : schema.additionalProperties,
        `${path}.${name}`,
      );
      if (misfit !== undefined) return misfit;
    }
    return undefined;
  }
}

const deepest = 64;

/** What needs no look into other schemas. */
function basic(value: unknown, schema: Schema, path: string): string | undefined {
  const types = typeof schema.type === 'string' ? [schema.type] : listIn(schema.type);
  if (types.length > 0 && !types.some((type) => isOf(value, type)))
    return `${path}: expected ${types.join(' or ')}, not ${typeOf(value)}`;
  const same = (one: unknown) => JSON.stringify(one) === JSON.stringify(value);
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

function textMisfit(value: string, { minLength, maxLength }: Schema, path: string): string | undefined {
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
