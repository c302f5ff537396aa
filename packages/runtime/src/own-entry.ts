/** The entry that a table itself has under a name from outside: `constructor` and its like are names as any other. */
export function ownEntry<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
