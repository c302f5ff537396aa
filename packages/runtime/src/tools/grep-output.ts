/** The paths of `--files-with-matches --null`, sorted. */
export function sortedPaths(stdout: string): readonly string[] {
  return stdout.split('\0').slice(0, -1).sort();
}

/**
 * Puts the lines that ripgrep printed in the order of their paths, and takes the marks out that told fields apart.
 * Ripgrep itself sorts only when it searches one file at a time, which is slower.
 */
export function sortedLines(stdout: string): readonly string[] {
  const groups = new Map<string, string[]>();
  let hasGaps = false;
  let previous: string | undefined;
  for (const line of stdout.split('\n').slice(0, -1)) {
    if (line === gap) {
      hasGaps = true;
      if (previous !== undefined) groups.get(previous)?.push(gap);
      continue;
    }
    previous = pathOf(line);
    const group = groups.get(previous) ?? [];
    group.push(withoutMarks(line));
    groups.set(previous, group);
  }
  const ordered = [...groups].sort(([one], [other]) => (one < other ? -1 : 1));
  const blocks = ordered.map(([, group]) => (group.at(-1) === gap ? group.slice(0, -1) : group));
  return blocks.flatMap((block, index) => (index > 0 && hasGaps ? [gap, ...block] : block));
}

/** Stands between stretches of context that do not touch. */
const gap = '--';

function pathOf(line: string): string {
  const end = line.indexOf('\0');
  return end === -1 ? (/^(.*): binary file matches/.exec(line)?.[1] ?? line) : line.slice(0, end);
}

/** `path NUL : N NUL : text` and `path NUL count`, as people know them. */
function withoutMarks(line: string): string {
  if (/\0[:-]/.test(line)) return line.replaceAll('\0', '').replace(/\r$/, '');
  return line.replace('\0', ':');
}
