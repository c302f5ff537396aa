import type { ReadParams } from '../callback-params.js';

/** In a browser the runtime is taken at its word: the tables would be most of what a page loads. */
export function readCallback(_method: string, params: unknown): ReadParams {
  if (typeof params === 'object' && params !== null) return { success: true, data: params };
  return { success: false, reason: 'expected an object' };
}
