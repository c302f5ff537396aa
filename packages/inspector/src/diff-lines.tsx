import { visible } from './format.js';

/** A diff, line by line, with what was added and removed in colour. What names its file is left out: the line above names it. */
export function DiffLines({ diff }: { readonly diff: string }) {
  const lines = diff.replace(/^\n|\n$/g, '').split('\n');
  const first = Math.max(
    0,
    lines.findIndex((line) => line.startsWith('@@')),
  );
  return (
    <pre class="diff" tabIndex={0}>
      {lines.slice(first).map((line, index) => (
        <span key={index} class={kindOf(line)}>
          {`${visible(line)}\n`}
        </span>
      ))}
    </pre>
  );
}

/** Whether a text is a diff. */
export function isDiff(text: string): boolean {
  return /^@@ .* @@/m.test(text);
}

function kindOf(line: string): string {
  if (line.startsWith('+')) return 'added';
  if (line.startsWith('-')) return 'removed';
  return line.startsWith('@@') ? 'place' : '';
}
