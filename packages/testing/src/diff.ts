/** Compares two texts by lines: `-` marks removed lines, `+` added ones; one line of context stands around each change. */
export function diffLines(before: string, after: string): readonly string[] {
  const [one, other] = [before.split('\n'), after.split('\n')];
  if (one.length === 1 && other.length === 1) return inFocus(before, after);
  let head = 0;
  while (head < one.length && head < other.length && one[head] === other[head]) head += 1;
  let tail = 0;
  const most = Math.min(one.length, other.length) - head;
  while (tail < most && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  const gone = one.slice(head, one.length - tail);
  const fresh = other.slice(head, other.length - tail);
  return [
    ...(head > 0 ? [`  ${short(one[head - 1] ?? '')}`] : []),
    ...changes(gone, fresh),
    ...(tail > 0 ? [`  ${short(one[one.length - tail] ?? '')}`] : []),
  ];
}

const longestLine = 160;
const mostLines = 40;

/** Both texts from shortly before the place where they part. */
function inFocus(before: string, after: string): readonly string[] {
  let at = 0;
  while (at < before.length && at < after.length && before[at] === after[at]) at += 1;
  const start = at > longestLine / 2 ? at - longestLine / 4 : 0;
  const from = (text: string) =>
    text === '' ? '(nothing)' : (start > 0 ? '…' : '') + short(text.slice(start));
  return [`- ${from(before)}`, `+ ${from(after)}`];
}

/** The longest common lines stay; long blocks are shown from their beginnings. */
function changes(gone: readonly string[], fresh: readonly string[]): readonly string[] {
  if (gone.length === 1 && fresh.length === 1) return inFocus(gone[0] ?? '', fresh[0] ?? '');
  const isLong = gone.length * fresh.length > 1_000_000;
  const lines = isLong ? [...marked('-', gone), ...marked('+', fresh)] : aligned(gone, fresh);
  if (lines.length <= mostLines) return lines;
  return [...lines.slice(0, mostLines), `  … ${lines.length - mostLines} more lines differ`];
}

function aligned(gone: readonly string[], fresh: readonly string[]): readonly string[] {
  const common = commonLengths(gone, fresh);
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < gone.length || j < fresh.length) {
    const isSame = i < gone.length && j < fresh.length && gone[i] === fresh[j];
    const dropsOne = j >= fresh.length || (common[i + 1]?.[j] ?? -1) >= (common[i]?.[j + 1] ?? -1);
    if (isSame) {
      lines.push(`  ${short(gone[i] ?? '')}`);
      i += 1;
      j += 1;
    } else if (i < gone.length && dropsOne) lines.push(`- ${short(gone[i++] ?? '')}`);
    else lines.push(`+ ${short(fresh[j++] ?? '')}`);
  }
  return lines;
}

/** How many lines the rests have in common, by where they begin. */
function commonLengths(one: readonly string[], other: readonly string[]): readonly (readonly number[])[] {
  const table = Array.from({ length: one.length + 1 }, () => new Array<number>(other.length + 1).fill(0));
  for (let i = one.length - 1; i >= 0; i--) {
    const [row = [], below = []] = [table[i], table[i + 1]];
    for (let j = other.length - 1; j >= 0; j--)
      row[j] = one[i] === other[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return table;
}

function marked(mark: '-' | '+', lines: readonly string[]): readonly string[] {
  return lines.map((line) => `${mark} ${short(line)}`);
}

function short(line: string): string {
  return line.length <= longestLine ? line : `${line.slice(0, longestLine - 1)}…`;
}
