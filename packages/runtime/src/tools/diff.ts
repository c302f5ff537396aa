import { setImmediate as turnOfTheLoop } from 'node:timers/promises';

/** The change of one file, as users are shown it before they allow it and after it was made. */
export interface FileChange {
  /** Absolute. */
  readonly path: string;
  readonly before: Buffer;
  readonly after: Buffer;
}

/** A file that comes to be, every line of it added. */
export function creationDiff(path: string, content: string): string {
  const lines = linesOf(content);
  const name = diffName(path);
  return [
    '',
    `diff --git a${name} b${name}`,
    'create file mode 100644',
    'index 0000000..0000000',
    '--- a/dev/null',
    `+++ b${name}`,
    `@@ -1,0 +1,${lines.length} @@`,
    ...lines.map((line) => `+${line}`),
    '',
  ].join('\n');
}

/** A file that is only looked at, every line of it as it is. */
export function unchangedDiff(path: string, lines: readonly string[], firstLine: number): string {
  const range = `${firstLine},${lines.length}`;
  return [...header(path), `@@ -${range} +${range} @@`, ...lines.map((line) => ` ${line}`), ''].join('\n');
}

/** What changes in a file, with a few lines around it. Its work grows with the change, not with the file. */
export async function changeDiff({ path, before, after }: FileChange): Promise<string> {
  const { structuredPatch } = await import('diff');
  const { oldText, newText, firstLine } = await changedPart(before, after);
  const options = { context: contextLines, maxEditLength: mostEdits };
  const isLong = oldText.length + newText.length > longestCompared;
  const found = isLong ? undefined : structuredPatch('', '', oldText, newText, '', '', options);
  const hunks = found?.hunks ?? [replacement(oldText, newText)];
  const endsDiffer = (before.at(-1) === lineFeed) !== (after.at(-1) === lineFeed);
  const lines = hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart + firstLine},${hunk.oldLines} +${hunk.newStart + firstLine},${hunk.newLines} @@`,
    ...hunk.lines.filter((line) => endsDiffer || !line.startsWith('\\')),
  ]);
  return [...header(path), ...lines, ''].join('\n');
}

const contextLines = 3;
/** Of two texts that are longer, or have less in common, all of one is shown, then all of the other. */
const longestCompared = 256 * 1024;
const mostEdits = 400;

/** The lines that differ and those around them; `firstLine` lines stand before. */
async function changedPart(before: Buffer, after: Buffer) {
  // Others have their turn in between: a large file takes some time.
  await turnOfTheLoop();
  const same = sameBytes(before, after);
  await turnOfTheLoop();
  const start = linesBack(before, same, contextLines);
  const sameEnd = sameBytesAtEnd(before, after, same);
  const [oldEnd, newEnd] = [before, after].map((text) => linesOn(text, text.length - sameEnd, contextLines));
  return {
    oldText: before.toString('utf8', start, oldEnd),
    newText: after.toString('utf8', start, newEnd),
    firstLine: await countOf(before, start),
  };
}

function sameBytes(before: Buffer, after: Buffer): number {
  const most = Math.min(before.length, after.length);
  let at = 0;
  while (at + block <= most && before.compare(after, at, at + block, at, at + block) === 0) at += block;
  while (at < most && before[at] === after[at]) at += 1;
  return at;
}

function sameBytesAtEnd(before: Buffer, after: Buffer, from: number): number {
  const most = Math.min(before.length, after.length) - from;
  const isSame = (size: number) => {
    const [old, now] = [before.length - size, after.length - size];
    return before.compare(after, now, now + block, old, old + block) === 0;
  };
  let size = 0;
  while (size + block <= most && isSame(size + block)) size += block;
  while (size < most && before[before.length - size - 1] === after[after.length - size - 1]) size += 1;
  return size;
}

const block = 64 * 1024;
const lineFeed = 0x0a;

/** The beginning of the line so many lines before the one that this place is in. */
function linesBack(text: Buffer, place: number, lines: number): number {
  let start = place === 0 ? 0 : text.lastIndexOf(lineFeed, place - 1) + 1;
  for (let count = 0; count < lines && start > 0; count += 1)
    start = start === 1 ? 0 : text.lastIndexOf(lineFeed, start - 2) + 1;
  return start;
}

/** The end of the line so many lines after the one that this place is in. */
function linesOn(text: Buffer, place: number, lines: number): number {
  let end = place;
  for (let count = 0; count <= lines; count += 1) {
    const newline = text.indexOf(lineFeed, end);
    if (newline === -1) return text.length;
    end = newline + 1;
  }
  return end;
}

/** Line feeds before a place. */
async function countOf(text: Buffer, end: number): Promise<number> {
  let count = 0;
  for (let from = 0; from < end; from += stretch) {
    if (from > 0) await turnOfTheLoop();
    const to = Math.min(from + stretch, end);
    for (let at = from; at < to; at += 1) if (text[at] === lineFeed) count += 1;
  }
  return count;
}

const stretch = 512 * 1024;

/** All lines of one, then all lines of the other. */
function replacement(oldText: string, newText: string) {
  const [old, now] = [linesOf(oldText), linesOf(newText)];
  const lines = [...old.map((line) => `-${line}`), ...now.map((line) => `+${line}`)];
  return { oldStart: 1, oldLines: old.length, newStart: 1, newLines: now.length, lines };
}

function header(path: string): readonly string[] {
  const name = diffName(path);
  return [
    '',
    `diff --git a${name} b${name}`,
    'index 0000000..0000000 100644',
    `--- a${name}`,
    `+++ b${name}`,
  ];
}

/** A name that cannot pass for another line of the diff. */
function diffName(path: string): string {
  const plain = path.replace(/[\r\n]/g, '?');
  return plain.startsWith('/') ? plain : `/${plain.replaceAll('\\', '/')}`;
}

/** A final newline ends the last line and begins none. */
function linesOf(content: string): readonly string[] {
  if (content === '') return [];
  return (content.endsWith('\n') ? content.slice(0, -1) : content).split('\n');
}
