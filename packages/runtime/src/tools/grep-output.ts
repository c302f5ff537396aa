/** The paths of `--files-with-matches --null`, sorted. */
export function listedPaths(stdout: string): readonly string[] {
  return [...new Set(stdout.split('\0').slice(0, -1))].sort();
}

/** The same, to be shown. */
export function sortedPaths(stdout: string): string {
  return listedPaths(stdout).join('\n');
}

/** What ripgrep printed, with other names for its files. A name ends in NUL, which is in no line of text, or is told of as binary. */
export function renamed(stdout: string, names: ReadonlyMap<string, string>): string {
  return stdout.replace(
    /(^|[\n\0])(\/[^\n\0:]*)(?=\0|: binary file matches)/g,
    (all, before: string, name: string) => {
      const other = names.get(name);
      return other === undefined ? all : before + other;
    },
  );
}

/**
 * Puts the lines that ripgrep printed in the order of their paths; `mark` takes the place of the NUL that ends each field.
 * Ripgrep itself sorts only when it searches one file at a time, which is slower.
 */
export function sortedLines(stdout: string, mark: '' | ':'): string {
  const blocks = blocksOf(stdout).sort((one, other) => (one.path < other.path ? -1 : 1));
  const hasGaps = stdout.startsWith(gap) || stdout.includes(`\n${gap}`);
  const texts = blocks.map(({ text }) => (text.endsWith('\n') ? text.slice(0, -1) : text));
  const all = texts.join(hasGaps ? `\n${gap}` : '\n').replaceAll('\0', mark);
  return all.includes('\r') ? all.replaceAll(/\r(?=\n|$)/g, '') : all;
}

/** What was printed of one file. */
interface Block {
  readonly path: string;
  readonly text: string;
}

/** Stands between stretches of context that do not touch, of one file or of two. */
const gap = '--\n';

/** Ripgrep prints the lines of a file together. A line is `path NUL …`, a gap, or a word about a binary file. */
function blocksOf(stdout: string): Block[] {
  const blocks: Block[] = [];
  for (let start = 0; start < stdout.length; ) {
    const path = pathAt(stdout, start);
    const end = endOfBlock(stdout, start, `${path}\0`);
    blocks.push({ path, text: stdout.slice(start, end) });
    start = stdout.startsWith(gap, end) ? end + gap.length : end;
  }
  return blocks;
}

function endOfBlock(stdout: string, start: number, prefix: string): number {
  let end = endOfLine(stdout, start);
  for (;;) {
    const next = stdout.startsWith(gap, end) ? end + gap.length : end;
    if (!stdout.startsWith(prefix, next)) return end;
    end = endOfLine(stdout, next);
  }
}

function endOfLine(stdout: string, start: number): number {
  const newline = stdout.indexOf('\n', start);
  return newline === -1 ? stdout.length : newline + 1;
}

function pathAt(stdout: string, start: number): string {
  const line = stdout.slice(start, endOfLine(stdout, start));
  const end = line.indexOf('\0');
  return end === -1 ? line.replace(/: binary file matches.*/s, '') : line.slice(0, end);
}
