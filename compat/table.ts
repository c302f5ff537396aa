import type { Registry } from './client.js';
import { type ClientResult, steps } from './run.js';

const marks = { ok: '✓', failed: '✗', absent: '–' } as const;
/** A step that an earlier failure kept from being tried. */
const untried = ' ';

/** Version × step, in Markdown; for one that fails, the first message. */
export function tableOf(results: readonly ClientResult[]): string {
  const head = ['client', 'with', ...steps, 'first failure'];
  const rows = results.map(({ client, results: done, failure = '' }) => [
    nameOf(client),
    Object.entries(client.environment)
      .map(([name, value]) => `\`${name}=${value}\``)
      .join(' '),
    ...steps.map((step) => {
      const outcome = done.find((each) => each.step === step)?.outcome;
      return outcome ? marks[outcome] : untried;
    }),
    failure.replaceAll('|', '\\|'),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** An earlier table with the rows of a later one in place of its own; clients that are new come last. */
export function mergeTables(before: string, after: string): string {
  const rows = new Map(rowsOf(before));
  for (const [name, line] of rowsOf(after)) rows.set(name, line);
  return [...after.split('\n').slice(0, 2), ...rows.values()].join('\n');
}

function rowsOf(table: string): readonly (readonly [name: string, line: string])[] {
  const lines = table.split('\n').slice(2);
  return lines.map((line) => [line.split('|')[1]?.trim() ?? '', line] as const);
}

/** What was green in an earlier table and is not any more. */
export function newlyRed(before: string, results: readonly ClientResult[]): readonly string[] {
  const green = greenCells(before);
  return results.flatMap(({ client, results: done, failure }) =>
    steps.flatMap((step) => {
      const outcome = done.find((each) => each.step === step)?.outcome;
      const wasGreen = green.has(`${nameOf(client)} ${step}`);
      return wasGreen && outcome !== 'ok'
        ? [`${nameOf(client)}: ${step} (${failure ?? outcome ?? 'not tried'})`]
        : [];
    }),
  );
}

function greenCells(table: string): ReadonlySet<string> {
  const cells = new Set<string>();
  for (const line of table.split('\n')) {
    const [name = '', , ...marked] = line
      .split('|')
      .slice(1)
      .map((cell) => cell.trim());
    for (const [index, step] of steps.entries()) if (marked[index] === marks.ok) cells.add(`${name} ${step}`);
  }
  return cells;
}

function nameOf({ registry, version }: { readonly registry: Registry; readonly version: string }): string {
  return `${registry} ${version}`;
}

/** The text between two marks of a page. */
export function sectionOf(page: string, name: string): string {
  const [, inside = ''] = new RegExp(`${open(name)}\\n([\\s\\S]*?)\\n${close(name)}`).exec(page) ?? [];
  return inside;
}

/** The page with another text between the marks. */
export function withSection(page: string, name: string, text: string): string {
  const pattern = new RegExp(`(${open(name)}\\n)[\\s\\S]*?(\\n?${close(name)})`);
  return page.replace(pattern, (_all, before: string) => `${before}${text}\n${close(name)}`);
}

const open = (name: string) => `<!-- ${name} -->`;
const close = (name: string) => `<!-- /${name} -->`;
