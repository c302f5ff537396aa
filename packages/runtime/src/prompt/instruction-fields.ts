/** A text with what stands before it between two lines of three dashes. */
export interface InstructionFields {
  readonly fields: Readonly<Record<string, readonly string[]>>;
  readonly body: string;
}

/** Reads `key: value`, `key: [a, b]` and `key:` with lines of `- a` below it; whatever else stands there is passed over. */
export function readInstructionFields(text: string): InstructionFields {
  const found = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text);
  if (!found) return { fields: {}, body: text };
  const fields: Record<string, string[]> = Object.create(null);
  let last: string[] | undefined;
  for (const line of (found[1] ?? '').split(/\r?\n/)) {
    const item = /^\s*-\s+(.+)$/.exec(line)?.[1];
    if (item !== undefined) {
      last?.push(unquoted(item));
      continue;
    }
    const [, key, value = ''] = /^([A-Za-z][\w-]*):\s*(.*)$/.exec(line) ?? [];
    if (key === undefined) continue;
    last = valuesOf(value.trim());
    fields[key] = last;
  }
  return { fields, body: text.slice(found[0].length) };
}

function valuesOf(value: string): string[] {
  if (value === '') return [];
  const list = /^\[(.*)\]$/.exec(value)?.[1];
  return list === undefined ? [unquoted(value)] : split(list).map(unquoted);
}

/** At commas, but not at those between braces: `**\/*.{ts,tsx}` is one pattern. */
export function split(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let part = '';
  for (const letter of list) {
    if (letter === '{') depth += 1;
    if (letter === '}') depth = Math.max(0, depth - 1);
    if (letter === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += letter;
  }
  return [...parts, part].map((each) => each.trim()).filter((each) => each !== '');
}

function unquoted(value: string): string {
  return /^(["'])(.*)\1$/.exec(value.trim())?.[2] ?? value.trim();
}
