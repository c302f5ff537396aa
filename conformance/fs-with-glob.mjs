import { register } from 'node:module';

/** The suite asks Node for `globSync`, which Node 20 does not have, and needs it for its own maintenance only. */
const hook = `
const substitute = "export * from 'node:fs'; export { default } from 'node:fs'; export const globSync = undefined;";
export async function resolve(specifier, context, next) {
  const isOfSuite = /conformance/.test(context.parentURL ?? '');
  if (specifier !== 'fs' || !isOfSuite) return next(specifier, context);
  return { url: 'data:text/javascript,' + encodeURIComponent(substitute), shortCircuit: true };
}`;

if (!('globSync' in (await import('node:fs')))) register(`data:text/javascript,${encodeURIComponent(hook)}`);
