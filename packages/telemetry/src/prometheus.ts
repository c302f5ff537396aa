import type { Measured, Point } from './meter.js';
import type { Attributes } from './span.js';

/** A current value, and its help text. */
export interface Gauge {
  readonly value: number;
  readonly help: string;
}

/** The text that Prometheus reads: gauges of the moment, then everything that was measured. */
export function prometheusText(
  measured: readonly Measured[],
  gauges: Readonly<Record<string, Gauge>>,
): string {
  const lines = Object.entries(gauges).flatMap(([name, { value, help }]) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} gauge`,
    `${name} ${numberText(value)}`,
  ]);
  return `${[...lines, ...measured.flatMap(linesOf)].join('\n')}\n`;
}

const units: Readonly<Record<string, string>> = { s: '_seconds' };

function linesOf({ name, description, unit, bounds, points }: Measured): readonly string[] {
  const base = `${nameOf(name)}${units[unit] ?? ''}`;
  const full = bounds || base.endsWith('_total') ? base : `${base}_total`;
  const head = [`# HELP ${full} ${description}`, `# TYPE ${full} ${bounds ? 'histogram' : 'counter'}`];
  return [...head, ...points.flatMap((point) => pointLines(full, point, bounds))];
}

function pointLines(name: string, point: Point, bounds: readonly number[] | undefined): readonly string[] {
  const { attributes, sum, count, buckets } = point;
  if (!bounds) return [`${name}${labels(attributes)} ${numberText(sum)}`];
  let below = 0;
  const cumulative = [...bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
    below += buckets[index] ?? 0;
    return `${name}_bucket${labels(attributes, ['le', numberText(bound)])} ${below}`;
  });
  return [
    ...cumulative,
    `${name}_sum${labels(attributes)} ${numberText(sum)}`,
    `${name}_count${labels(attributes)} ${count}`,
  ];
}

function nameOf(name: string): string {
  return name.replace(/[^\w:]/g, '_');
}

function labels(attributes: Attributes, more?: readonly [string, string]): string {
  const pairs = Object.entries(attributes).map(([name, value]): readonly [string, string] => [
    nameOf(name),
    String(value),
  ]);
  const all = more ? [...pairs, more] : pairs;
  if (all.length === 0) return '';
  return `{${all.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`;
}

function escaped(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"');
}

function numberText(value: number): string {
  return value === Number.POSITIVE_INFINITY ? '+Inf' : String(value);
}
