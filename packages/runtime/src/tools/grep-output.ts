/**
 * Puts what ripgrep printed in the order of paths and takes the marks out that told its fields apart.
 * Ripgrep itself sorts only when it searches one file at a time, which is slower.
 */
export function groupedOutput(stdout: string): readonly string[] {
  const groups = new Map<string, string[]>();
  let hasSeparators = false;
  let before: string | undefined;
  let isBroken = false;
  for (const line of linesOf(stdout)) {
    if (line === separator) {
      hasSeparators = true;
      isBroken = true;
      continue;
    }
    const path = pathOf(line);
    const group = groups.get(path) ?? [];
    if (isBroken && before === path) group.push(separator);
    group.push(plain(line));
    groups.set(path, group);
    before = path;
    isBroken = false;
  }
  const ordered = [...groups].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, group]) => group);
  return ordered.flatMap((group, index) => (index > 0 && hasSeparators ? [separator, ...group] : group));
}

/** Between stretches of context that do not touch. */
const separator = '--';

/** Names alone end in NUL and nothing else; lines end in a newline. */
function linesOf(stdout: string): readonly string[] {
  if (!stdout.includes('\n')) return stdout.split('\0').slice(0, -1);
  const lines = stdout.split('\n');
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

function pathOf(line: string): string {
  const end = line.indexOf('\0');
  return end === -1 ? (/^(.*): binary file matches/.exec(line)?.[1] ?? line) : line.slice(0, end);
}

/** `path NUL : N NUL : text` and `path NUL count`, as people know them. */
function plain(line: string): string {
  if (/\0[:-]/.test(line)) return line.replaceAll('\0', '').replace(/\r$/, '');
  return line.replace('\0', ':');
}
