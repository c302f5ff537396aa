import type * as core from 'zod/v4/core';
import { GroundcrewError, OutputError } from './errors.js';
import type { FromJsonSchema, JsonSchema } from './json-schema.js';
import type { AssistantMessageEvent } from './turn-wait.js';
import { isZod, jsonSchemaOf, parseBy } from './zod-schema.js';

/** The form of an answer: a schema of zod 4, or a JSON Schema. */
export type OutputSchema = core.$ZodType | JsonSchema;

/** What an answer of that form is. */
export type OutputOf<S extends OutputSchema> = S extends core.$ZodType ? core.output<S> : FromJsonSchema<S>;

/** What the wire says of the form. */
export function outputParams(schema: OutputSchema): { readonly schema: Record<string, unknown> } {
  if (!isZod(schema) && 'safeParse' in schema)
    throw new GroundcrewError('invalid_option', 'The output is no schema of zod 4');
  return { schema: closed(isZod(schema) ? jsonSchemaOf(schema) : schema) };
}

/** The value in the answer that a turn ended with. Throws OutputError. */
export async function outputOf<S extends OutputSchema>(
  schema: S,
  message: AssistantMessageEvent | undefined,
): Promise<OutputOf<S>> {
  const text = message?.data.content ?? '';
  const value = valueIn(text);
  if (!isZod(schema)) return value as OutputOf<S>; // the runtime has held it against the schema
  const parsed = await parseBy(schema, value);
  if (!parsed.success) throw new OutputError(`The answer does not fit the schema: ${parsed.reason}`, text);
  return parsed.data as OutputOf<S>;
}

function valueIn(text: string): unknown {
  const trimmed = text.trim();
  const isFenced = trimmed.startsWith('```') && trimmed.endsWith('```') && trimmed.includes('\n');
  try {
    return JSON.parse(isFenced ? trimmed.slice(trimmed.indexOf('\n'), -3) : trimmed);
  } catch {
    throw new OutputError('The turn ended without an answer that fits the schema', text);
  }
}

/** Objects that say nothing of other fields have none: strict services demand it. */
function closed(schema: unknown): Record<string, unknown> {
  const close = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(close);
    if (typeof node !== 'object' || node === null) return node;
    const fields = Object.fromEntries(Object.entries(node).map(([name, each]) => [name, close(each)]));
    const isOpen = fields.type === 'object' && 'properties' in fields && !('additionalProperties' in fields);
    return isOpen ? { ...fields, additionalProperties: false } : fields;
  };
  return close(schema) as Record<string, unknown>;
}
