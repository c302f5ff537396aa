/** The paths of `--files-with-matches --null`, sorted. */
export function listedPaths(stdout: string): readonly string[] {
  return [...new Set(stdout.split('\0').slice(0, -1))].sort();
}

/** What was printed of one file. */
export interface Block {
  readonly path: string;
  readonly text: string;
}

/** The files of a list of names; each is all that is shown of it. */
export function nameBlocks(stdout: string): readonly Block[] {
  return listedPaths(stdout).map((path) => ({ path, text: path }));
}

/**
 * The lines of each file, which ripgrep prints together: `path NUL …`, a gap, or a word about a binary file. Undefined when some
 * line is none of these, as when a path has a line end in it: then it is unknown which line belongs to which file.
 */
export function lineBlocks(stdout: string): readonly Block[] | undefined {
  const blocks: Block[] = [];
  for (let start = 0; start < stdout.length; ) {
    const path = pathAt(stdout, start);
    if (path === undefined) return undefined;
    const end = endOfBlock(stdout, start, `${path}\0`);
    blocks.push({ path, text: stdout.slice(start, end) });
    start = stdout.startsWith(gap, end) ? end + gap.length : end;
  }
  return blocks;
}

/** The same under another name. */
export function renamedBlock({ path, text }: Block, name: string): Block {
  if (name === path) return { path, text };
  const isOfLines = text.startsWith(`${path}\0`);
  if (!isOfLines) return { path: name, text: name + text.slice(path.length) };
  const lines = `\n${text}`.replaceAll(`\n${path}\0`, () => `\n${name}\0`);
  return { path: name, text: lines.slice(1) };
}

/**
 * Puts what was printed of each file in the order of their paths; `mark` takes the place of the NUL that ends each field.
 * Ripgrep itself sorts only when it searches one file at a time, which is slower.
 */
export function sortedLines(
  blocks: readonly Block[],
  { mark, hasGaps }: { readonly mark: '' | ':'; readonly hasGaps: boolean },
): string {
  const sorted = [...blocks].sort((one, other) => (one.path < other.path ? -1 : 1));
  const texts = sorted.map(({ text }) => (text.endsWith('\n') ? text.slice(0, -1) : text));
  const all = texts.join(hasGaps ? `\n${gap}` : '\n').replaceAll('\0', mark);
  return all.includes('\r') ? all.replaceAll(/\r(?=\n|$)/g, '') : all;
}

/** Stands between stretches of context that do not touch, of one file or of two. */
const gap = '--\n';

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

function pathAt(stdout: string, start: number): string | undefined {
  const line = stdout.slice(start, endOfLine(stdout, start));
  const end = line.indexOf('\0');
  return end === -1 ? /^(.*?): (?:binary file matches|WARNING: stopped)/.exec(line)?.[1] : line.slice(0, end);
}

/** Whether this is ripgrep's warning that it stopped at binary data after a match. */
export function isBinaryWarning(text: string): boolean {
  return /^[^\0\n]*: WARNING: stopped/.test(text);
}
