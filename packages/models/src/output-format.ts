/** The form that an answer has to have. */
export interface OutputFormat {
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  /** A JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** How services of OpenAI's kind are sent it: strictly where they take the schema so. */
export function jsonSchemaFormat({ name, schema }: OutputFormat): {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly strict?: true;
} {
  return { name, schema, ...(isStrict(schema) && { strict: true }) };
}

/** Every object is closed, and all that it may have it must have. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (typeof schema !== 'object' || schema === null) return true;
  const { type, properties, required, additionalProperties } = schema as Record<string, unknown>;
  if (type === 'object') {
    const names = Object.keys((properties as object | undefined) ?? {});
    const needed = Array.isArray(required) ? required : [];
    if (additionalProperties !== false || names.some((name) => !needed.includes(name))) return false;
  }
  return Object.values(schema).every(isStrict);
}
