/** The change of one file, as people are shown it before they allow it and after it was made. */
export interface FileChange {
  /** Absolute. */
  readonly path: string;
  readonly before: string;
  readonly after: string;
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

/** What changes in a file, with a few lines around it. */
export async function changeDiff({ path, before, after }: FileChange): Promise<string> {
  const { structuredPatch } = await import('diff');
  const { hunks } = structuredPatch('', '', before, after, '', '', { context: 3 });
  const endsDiffer = before.endsWith('\n') !== after.endsWith('\n');
  const lines = hunks.flatMap((hunk) => [
    `@@ -${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`,
    ...hunk.lines.filter((line) => endsDiffer || !line.startsWith('\\')),
  ]);
  return [...header(path), ...lines, ''].join('\n');
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
