/** What kind of failure it was: the text of an authorisation server may repeat codes and secrets. */
export function failureCode(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason';
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' && /^[\w.-]{1,60}$/.test(code) ? code : error.name;
}
