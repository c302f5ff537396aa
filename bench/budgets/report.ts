/** One line of the report; `isKept` says whether a budget was kept, where there is one. */
export interface Figure {
  readonly what: string;
  readonly figure: string;
  readonly isKept?: boolean;
}

/** All lines, as Markdown. */
export function reportOf(figures: readonly Figure[]): string {
  const rows = figures.map(
    ({ what, figure, isKept }) => `| ${what} | ${figure}${isKept === false ? ' **missed**' : ''} |`,
  );
  return ['| | |', '| --- | --- |', ...rows].join('\n');
}
