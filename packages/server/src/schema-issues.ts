/** What a schema found wrong; of a value that may be one of several things, what each of them misses. */
export interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly errors?: readonly (readonly Issue[])[];
}

/** Everything that is wrong with parameters, each with its place. */
export function explain(issues: readonly Issue[], place: readonly PropertyKey[] = []): string {
  return issues.map((issue) => explainOne(issue, [...place, ...issue.path])).join('; ');
}

function explainOne({ message, errors = [] }: Issue, place: readonly PropertyKey[]): string {
  if (errors.length === 0) return `${place.map(String).join('.') || 'params'}: ${message}`;
  return errors.map((alternative) => explain(alternative, place)).join(', or ');
}
