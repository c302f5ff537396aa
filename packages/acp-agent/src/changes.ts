/** One piece of a file that changes. */
export interface Change {
  readonly path: string;
  /** Absent when the file is new. */
  readonly oldText?: string;
  readonly newText: string;
  /** Where it begins, counted from 1. */
  readonly line: number;
}

/** The pieces that a diff in the unified form changes. */
export function changesOf(diff: string, path: string): readonly Change[] {
  const isNew = /^--- (?:a)?\/dev\/null$/m.test(diff) || /^new file mode/m.test(diff);
  const hunks = diff.split(/^(?=@@ -)/m).slice(1);
  return hunks.map((hunk) => {
    const [head = '', ...lines] = hunk.replace(/\n$/, '').split('\n');
    const line = Number(/\+(\d+)/.exec(head)?.[1] ?? 1);
    const newText = sideOf(lines, '+');
    return { path, newText, line: Math.max(1, line), ...(!isNew && { oldText: sideOf(lines, '-') }) };
  });
}

/** One side of a hunk: what both have, and what this one has alone. */
function sideOf(lines: readonly string[], sign: '+' | '-'): string {
  let text = '';
  let isLast = false;
  for (const each of lines) {
    if (each.startsWith('\\')) {
      // The line before, if it is on this side, has no line break.
      if (isLast) text = text.slice(0, -1);
      continue;
    }
    isLast = each.startsWith(sign) || each.startsWith(' ') || each === '';
    if (isLast) text += `${each.slice(1)}\n`;
  }
  return text;
}
