import type { EvaluatedCase } from './outcome.js';

/** What a variant took in all, and how much of it passed. */
export interface VariantTotals {
  readonly variant: string;
  readonly passed: number;
  readonly of: number;
  readonly tokens: number;
  readonly milliseconds: number;
  /** US dollars; null when the price of some call is not known. */
  readonly cost: number | null;
}

/** Cases by variants, as text. */
export function evaluationTable(cases: readonly EvaluatedCase[]): string {
  const totals = totalsOf(cases);
  const rows = [
    ['', ...totals.map(({ variant }) => shortened(variant))],
    ...[...attemptsOf(cases)].map(([name, byVariant]) => [
      shortened(name),
      ...totals.map(({ variant }) => markOf(byVariant.get(variant) ?? [])),
    ]),
    ['passed', ...totals.map(({ passed, of }) => `${passed}/${of}`)],
    ['tokens', ...totals.map(({ tokens }) => String(tokens))],
    ['seconds', ...totals.map(({ milliseconds }) => (milliseconds / 1000).toFixed(1))],
    ['dollars', ...totals.map(({ cost }) => (cost === null ? 'unknown' : cost.toFixed(4)))],
  ];
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0),
  );
  return rows
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** One entry for each variant, in the order of the evaluation. */
export function totalsOf(cases: readonly EvaluatedCase[]): readonly VariantTotals[] {
  return [...new Set(cases.map(({ variant }) => variant))].map((variant) => {
    const own = cases.filter((each) => each.variant === variant);
    const sum = (of: (each: EvaluatedCase) => number) => own.reduce((total, each) => total + of(each), 0);
    const isPriced = own.every(({ turn }) => turn.cost !== null);
    return {
      variant,
      passed: own.filter(({ passed }) => passed).length,
      of: own.length,
      tokens: sum(({ turn }) => turn.inputTokens + turn.outputTokens),
      milliseconds: sum(({ turn }) => turn.milliseconds),
      cost: isPriced ? sum(({ turn }) => turn.cost ?? 0) : null,
    };
  });
}

/** The attempts at each case, by its name and then by the variant, in the order of the evaluation. */
export function attemptsOf(
  cases: readonly EvaluatedCase[],
): ReadonlyMap<string, ReadonlyMap<string, readonly EvaluatedCase[]>> {
  const byName = new Map<string, Map<string, EvaluatedCase[]>>();
  for (const each of cases) {
    const byVariant = byName.get(each.name) ?? new Map<string, EvaluatedCase[]>();
    byName.set(each.name, byVariant);
    const attempts = byVariant.get(each.variant) ?? [];
    byVariant.set(each.variant, attempts);
    attempts.push(each);
  }
  return byName;
}

/** On one line; what would steer a terminal is left out. */
export function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
}

function markOf(attempts: readonly EvaluatedCase[]): string {
  const passed = attempts.filter((each) => each.passed).length;
  if (attempts.length === 1) return passed === 1 ? '✓' : '✗';
  return `${passed}/${attempts.length}`;
}

function shortened(name: string): string {
  const line = onOneLine(name);
  return line.length > longestName ? `${line.slice(0, longestName - 1)}…` : line;
}

const longestName = 48;
