/** True for what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The property, if the value is an object that has it. */
export function property(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}

/** The value, if it is a string with something in it. */
export function textOrNothing(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value, if it can count something. */
export function countOrNothing(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
