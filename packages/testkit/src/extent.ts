/** How much of a long test runs: the short form in `npm run verify`, the full one in `npm run verify:full`. */
export function byExtent<Value>(forms: { readonly short: Value; readonly full: Value }): Value {
  return process.env.FULL_TESTS ? forms.full : forms.short;
}
