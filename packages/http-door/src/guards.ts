/**
 * What every answer says to a browser: it is no page and loads nothing, no other page frames it or reads it, and its type is
 * not guessed. A route that serves a page says what that page may do.
 */
export const guards: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};
