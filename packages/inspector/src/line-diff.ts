/** A line of two texts compared. */
export interface DiffLine {
  readonly type: 'same' | 'removed' | 'added';
  readonly text: string;
}

const mostCells = 4_000_000;

/** What to do to make one text of the other. The same beginning and end cost nothing; the middle is compared line by line. */
export function lineDiff(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const same = (lines: readonly string[]): DiffLine[] => lines.map((text) => ({ type: 'same', text }));
  return [
    ...same(before.slice(0, start)),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...same(before.slice(before.length - end)),
  ];
}

function middle(before: readonly string[], after: readonly string[]): DiffLine[] {
  const removed = (text: string): DiffLine => ({ type: 'removed', text });
  const added = (text: string): DiffLine => ({ type: 'added', text });
  if (before.length * after.length > mostCells) return [...before.map(removed), ...after.map(added)];
  const width = after.length + 1;
  const longest = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number) => longest[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1)
    for (let column = after.length - 1; column >= 0; column -= 1)
      longest[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const lines: DiffLine[] = [];
  let row = 0;
  let column = 0;
  while (row < before.length || column < after.length) {
    const [old, fresh] = [before[row], after[column]];
    if (old !== undefined && old === fresh) {
      lines.push({ type: 'same', text: old });
      row += 1;
      column += 1;
    } else if (old !== undefined && (fresh === undefined || at(row + 1, column) >= at(row, column + 1))) {
      lines.push(removed(old));
      row += 1;
    } else {
      lines.push(added(fresh ?? ''));
      column += 1;
    }
  }
  return lines;
}
