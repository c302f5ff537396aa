/** The measures that `--only` names, all of them without it; ends the program with a sentence for a name that none has. */
export function chosen<T>(
  measures: Readonly<Record<string, T>>,
  only: readonly string[],
): readonly (readonly [string, T])[] {
  const names = Object.keys(measures);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    process.stderr.write(`--only ${unknown}: there is no such measure; there are ${names.join(', ')}\n`);
    process.exit(2);
  }
  return Object.entries(measures).filter(([name]) => only.length === 0 || only.includes(name));
}
