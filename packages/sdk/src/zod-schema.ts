import * as core from 'zod/v4/core';

/** What a value turned out to be by a schema. */
export type Parsed =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly reason: string };

/** A schema of zod 4, classic or mini. */
export function isZod(schema: object | undefined): schema is core.$ZodType {
  return schema !== undefined && '_zod' in schema;
}

/** What the wire says of a schema of zod. */
export function jsonSchemaOf(schema: core.$ZodType): Record<string, unknown> {
  const { $schema: _schema, ...rest } = core.toJSONSchema(schema, { io: 'input' });
  return rest;
}

/** Reads a value by a schema; what is wrong with it has its path. */
export async function parseBy(schema: core.$ZodType, value: unknown): Promise<Parsed> {
  const parsed = await core.safeParseAsync(schema, value);
  if (parsed.success) return parsed;
  const reasons = parsed.error.issues.map(({ path, message }) =>
    [path.join('.'), message].filter(Boolean).join(': '),
  );
  return { success: false, reason: reasons.join('; ') };
}
