/**
 * Whether a filter of jq imports modules, wherever they are, or shows what is in the environment. A key of that name is no
 * harm, `{env: 1}`; before any other colon it is not a key: `.[env:]`.
 */
export function leadsElsewhere(filter: string): boolean {
  return /\b(?:import|include|modulemeta|input_filename|ENV)\b|(?<![.\w]|\{\s*)env\b|\b__prog/.test(filter);
}
