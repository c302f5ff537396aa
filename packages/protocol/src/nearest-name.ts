/** The name that was probably meant, if any is near enough. */
export function nearestName(given: string, names: Iterable<string>): string | undefined {
  // Longer than any name there is: nothing is near it.
  if (given.length > 64) return undefined;
  const most = Math.max(1, Math.floor(given.length / 3));
  let best: { readonly name: string; readonly distance: number } | undefined;
  for (const name of names) {
    // A name that is longer or shorter by more cannot be near.
    if (Math.abs(name.length - given.length) > most) continue;
    const distance = distanceOf(given.toLowerCase(), name.toLowerCase());
    if (distance <= most && distance < (best?.distance ?? Number.POSITIVE_INFINITY))
      best = { name, distance };
  }
  return best?.name;
}

/** Letters to add, drop, change or swap with their neighbour. */
function distanceOf(from: string, to: string): number {
  let older: readonly number[] = [];
  let before = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        at(before, column) + 1,
        at(current, column - 1) + 1,
        at(before, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(older, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    older = before;
    before = current;
  }
  return at(before, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
