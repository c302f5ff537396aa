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
  const names = [...new Set(cases.map(({ name }) => name))];
  const rows = [
    ['', ...totals.map(({ variant }) => shortened(variant))],
    ...names.map((name) => [
      shortened(name),
      ...totals.map(({ variant }) => markOf(cases.filter((each) => isOf(each, name, variant)))),
    ]),
    ['passed', ...totals.map(({ passed, of }) => `${passed}/${of}`)],
    ['tokens', ...totals.map(({ tokens }) => String(tokens))],
    ['seconds', ...totals.map(({ milliseconds }) => (milliseconds / 1000).toFixed(1))],
    ['dollars', ...totals.map(({ cost }) => (cost === null ? 'unknown' : cost.toFixed(4)))],
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
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

/** Whether a case is that of a name and a variant. */
export function isOf(each: EvaluatedCase, name: string, variant: string): boolean {
  return each.name === name && each.variant === variant;
}

function markOf(attempts: readonly EvaluatedCase[]): string {
  const passed = attempts.filter((each) => each.passed).length;
  if (attempts.length === 1) return passed === 1 ? '✓' : '✗';
  return `${passed}/${attempts.length}`;
}

/** On one line; what would steer a terminal is left out. */
function shortened(name: string): string {
  const line = name.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}]/gu, '');
  return line.length > longestName ? `${line.slice(0, longestName - 1)}…` : line;
}

const longestName = 48;
