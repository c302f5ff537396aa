import { type MethodName, methods, type Support, type SupportTable } from '@groundcrew/protocol';
import * as z from 'zod/mini';

/** A field of a method's parameters. */
export interface OptionField {
  readonly path: string;
  /** What its table says; nothing when it has no entry. */
  readonly support: Support | undefined;
  /** Parameters that ask for something by this field alone. */
  readonly params: Readonly<Record<string, unknown>>;
  /** It is an object whose fields have names, or a list or a map of such. */
  readonly hasFields: boolean;
}

/** Each field of a method's parameters, down to the last, with parameters that ask for something by it. */
export function optionFields(method: MethodName, table: SupportTable): readonly OptionField[] {
  const schema = z.toJSONSchema(methods[method].params() as z.ZodMiniType, { io: 'input' }) as Schema;
  return walk(schema, table, []);
}

/** A JSON Schema, as far as fields are concerned. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

function walk(schema: Schema, table: SupportTable, above: readonly string[]): readonly OptionField[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, given]) => {
    const field = given.anyOf?.[0] ?? given;
    const support = Object.hasOwn(table, name) ? table[name] : undefined;
    if (support?.type !== 'object') {
      const path = [...above, name].join('.');
      return [{ path, support, params: { [name]: sampleOf(field, support) }, hasFields: namesFields(given) }];
    }
    const wrap = wraps[support.each];
    const deeper = wrap.schema(field);
    const inside = walk((deeper.anyOf?.[0] ?? deeper) as Schema, support.fields, [...above, name]);
    return inside.map((each) => ({ ...each, params: { [name]: wrap.value(each.params) } }));
  });
}

function namesFields({ properties, items, additionalProperties, anyOf = [], oneOf = [] }: Schema): boolean {
  const inside = [items, additionalProperties, ...anyOf, ...oneOf].filter((each) => typeof each === 'object');
  return Object.keys(properties ?? {}).length > 0 || inside.some((each) => each && namesFields(each));
}

const wraps = {
  field: { schema: (schema: Schema) => schema, value: (value: object): unknown => value },
  item: {
    schema: (schema: Schema) => schema.items ?? {},
    value: (value: object): unknown => [{ name: 'some', ...value }],
  },
  name: {
    schema: (schema: Schema) => schema.additionalProperties ?? {},
    value: (value: object): unknown => ({ tone: value }),
  },
};

/** A value that asks for something. */
function sampleOf(schema: Schema, support: Support | undefined): unknown {
  const neutral = support?.type === 'unused' ? support.neutral : [];
  const type = [schema.type].flat()[0];
  const known = [...(schema.enum ?? []), ...(schema.examples ?? [])];
  if (type === 'boolean') return true;
  if (type === 'number') return 1;
  if (type === 'array') return [schema.items?.type === 'object' ? { name: 'some' } : 'some'];
  if (type === 'object') return { some: { name: 'some' } };
  return known.find((value) => !neutral.includes(value)) ?? 'some';
}
