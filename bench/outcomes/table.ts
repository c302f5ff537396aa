/** One fact about one runtime. */
export interface Finding {
  readonly what: string;
  readonly outcome: string;
}

/** Findings of all runtimes side by side, as Markdown. */
export function tableOf(columns: ReadonlyMap<string, readonly Finding[]>): string {
  const names = [...columns.keys()];
  const facts = [...new Set([...columns.values()].flat().map(({ what }) => what))];
  const cell = (name: string, what: string) =>
    columns.get(name)?.find((finding) => finding.what === what)?.outcome ?? '–';
  return [
    `| | ${names.join(' | ')} |`,
    `| --- |${names.map(() => ' --- |').join('')}`,
    ...facts.map((what) => `| ${what} | ${names.map((name) => cell(name, what)).join(' | ')} |`),
  ].join('\n');
}

/** `7 of 9`. */
export function share(part: number, whole: number): string {
  return `${part} of ${whole}`;
}

export function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
