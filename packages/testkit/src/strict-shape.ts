import type * as z from 'zod';

/** Why the value does not have the shape, in one line; undefined when it has. */
export function shapeFault(shape: z.ZodType, value: unknown): string | undefined {
  const parsed = shape.safeParse(value);
  if (parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  return issue ? `${issue.path.join('.')}: ${issue.message}` : 'wrong';
}

/** The first of these that finds something. */
export function firstFault(...checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const fault = check();
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** Names of tools as every service takes them. */
export const toolName = /^[A-Za-z0-9_-]{1,64}$/;

/** What a sealed thought is checked by: a seal that fits nothing else. */
export function sealOf(thought: string): string {
  return Buffer.from(`sealed:${thought}`).toString('base64');
}

/** True for a schema of an object with no choice at its top. */
export function isObjectSchema(schema: Readonly<Record<string, unknown>>): boolean {
  const choices = ['oneOf', 'anyOf', 'allOf', 'not', 'enum'];
  return schema.type === 'object' && schema.properties !== undefined && !choices.some((key) => key in schema);
}

/** The first that is there twice. */
export function twice(values: readonly string[]): string | undefined {
  return values.find((value, index) => values.indexOf(value) !== index);
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
