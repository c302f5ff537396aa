import type * as z from 'zod/mini';
import { optional, ZodMiniObject } from 'zod/mini';
import { $constructor, $ZodAsyncError } from 'zod/v4/core';
import { anything } from './fields.js';
import { isObject } from './json.js';
import type { OpenObject } from './schema.js';

/** By the name of a field, the schema of its value. */
export type Fields = Readonly<Record<string, () => z.core.$ZodType>>;

/**
 * An open object whose fields may be missing, all but the `needed` ones. Of the many fields most never come, so the
 * schema of each is built when the first value for it does: a session of five settings pays for five.
 */
export function sparseObject<const F extends Fields, const N extends Fields = NoFields>(
  fields: F,
  needed?: N,
): SparseObject<F, N> {
  return new Sparse({
    type: 'object',
    catchall: anything(),
    fields: { ...needed, ...fields },
    needed: new Set(Object.keys(needed ?? {})),
    // Only the documentation asks for the whole.
    get shape() {
      return { ...built(needed ?? {}), ...built(fields, (schema) => optional(schema)) };
    },
  }) as unknown as SparseObject<F, N>;
}

/** What `sparseObject` makes. */
export type SparseObject<F extends Fields, N extends Fields> = OpenObject<
  { readonly [K in keyof N]: ReturnType<N[K]> } & {
    readonly [K in keyof F]: z.ZodMiniOptional<ReturnType<F[K]>>;
  }
>;

type NoFields = Record<never, never>;

interface Definition extends z.core.$ZodObjectDef {
  readonly fields: Fields;
  readonly needed: ReadonlySet<string>;
}

const Sparse = $constructor<z.ZodMiniObject, Definition>('SparseObject', (object, definition) => {
  ZodMiniObject.init(object, definition);
  const schemaOf = schemasOf(definition);
  object._zod.parse = (payload, context) => {
    const given = payload.value;
    if (!isObject(given)) {
      payload.issues.push({ code: 'invalid_type', expected: 'object', input: given, inst: object });
      return payload;
    }
    const read: Record<string, unknown> = {};
    const { needed } = definition;
    const take = (name: string) => {
      const value = given[name];
      const schema = schemaOf(name, value);
      // What is not known passes as it is, however much of it there is.
      if (schema === undefined) {
        read[name] = value;
        return;
      }
      const result = schema._zod.run({ value, issues: [] }, context);
      if (result instanceof Promise) throw new $ZodAsyncError();
      for (const issue of result.issues)
        payload.issues.push({ ...issue, path: [name, ...(issue.path ?? [])] });
      read[name] = result.value;
    };
    needed.forEach(take);
    for (const name of Object.keys(given)) {
      // Assigned to, `__proto__` would change what the object is.
      if (name !== '__proto__' && !needed.has(name)) take(name);
    }
    payload.value = read;
    return payload;
  };
});

function schemasOf({ fields, needed }: Definition) {
  const schemas = new Map<string, z.core.$ZodType>();
  return (name: string, value: unknown): z.core.$ZodType | undefined => {
    if (value === undefined && !needed.has(name)) return undefined;
    const known = schemas.get(name);
    if (known) return known;
    const schema = Object.hasOwn(fields, name) ? fields[name]?.() : undefined;
    if (schema) schemas.set(name, schema);
    return schema;
  };
}

function built(fields: Fields, wrap = (schema: z.core.$ZodType) => schema): z.core.$ZodShape {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, wrap(schema())]));
}
