import type * as core from 'zod/v4/core';
import type { Parsed } from '../zod-schema.js';

/** A schema of zod 4, classic or mini. */
export function isZod(schema: object | undefined): schema is core.$ZodType {
  return schema !== undefined && '_zod' in schema;
}

/** Schemas write themselves as JSON Schema: a page has the zod of its own, and need not load a second. */
export function jsonSchemaOf(schema: core.$ZodType): Record<string, unknown> {
  const { jsonSchema } = schema['~standard'] as unknown as Partial<StandardJsonSchema>;
  if (!jsonSchema)
    throw new TypeError('This version of zod cannot write its schemas as JSON Schema: use 4.2 or later');
  const { $schema: _schema, ...rest } = jsonSchema.input({ target: 'draft-2020-12' });
  return rest;
}

/** Reads a value by a schema; what is wrong with it has its path. */
export async function parseBy(schema: core.$ZodType, value: unknown): Promise<Parsed> {
  const result = await schema['~standard'].validate(value);
  if (!result.issues) return { success: true, data: result.value };
  const reasons = result.issues.map(({ path = [], message }) =>
    [path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.'), message]
      .filter(Boolean)
      .join(': '),
  );
  return { success: false, reason: reasons.join('; ') };
}

interface StandardJsonSchema {
  readonly jsonSchema: { input(options: { readonly target: string }): Record<string, unknown> };
}
