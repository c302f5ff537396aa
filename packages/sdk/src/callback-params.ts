import { type Callbacks, callbacks, type Method, read } from '@groundcrew/protocol';

/** The parameters of a request of the runtime, by the table. */
export type ReadParams =
  | { readonly success: true; readonly data: unknown }
  | { readonly success: false; readonly reason: string };

/** Checks what the runtime asks. */
export function readCallback(method: keyof Callbacks, params: unknown): ReadParams {
  const { params: schema }: Method = callbacks[method];
  const parsed = read(schema, params);
  return parsed.success ? parsed : { success: false, reason: parsed.error.message };
}
