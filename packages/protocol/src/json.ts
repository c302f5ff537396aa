/** Whatever JSON can say. */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;

/** A JSON object. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Whether a value that came as JSON is an object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** All characters of all texts in a value; not by recursion, for it may nest deep. */
export function charactersIn(value: unknown): number {
  let sum = 0;
  const left: unknown[] = [value];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    if (typeof next === 'string') sum += next.length;
    else if (typeof next === 'object' && next !== null) {
      sum += 1;
      for (const [key, inner] of Object.entries(next)) {
        sum += key.length;
        if (inner !== undefined) left.push(inner);
      }
    }
  }
  return sum;
}

/** The same shape, with nothing in it that may be changed: what travels is never edited in place. */
export type Immutable<T> = T extends Scalar
  ? T
  : T extends object
    ? { readonly [K in keyof T]: Immutable<T[K]> }
    : T;

type Scalar = string | number | boolean | null | undefined;
