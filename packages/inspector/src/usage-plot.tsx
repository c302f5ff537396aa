import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { count, money } from './format.js';
import type { Use } from './stored-usage.js';

/** Tokens and money over time, of every model call that is stored: sub-agents and summaries too. */
export function UsagePlot({ uses, drawn }: { readonly uses: readonly Use[]; readonly drawn: number }) {
  const box = useRef<HTMLDivElement>(null);
  const sums = sumsOf(uses);
  useEffect(() => {
    const { current } = box;
    if (!current || uses.length === 0) return undefined;
    const plot = plotOf(uses, current);
    return () => plot.destroy();
  }, [uses, drawn]);
  return (
    <div class="usage" role="region" aria-label="Usage" tabIndex={0}>
      <p class="facts">
        <span>{uses.length === 1 ? '1 model call' : `${uses.length} model calls`}</span>
        <span>
          {count(sums.input)} tokens in, {count(sums.cached)} of them from a cache
        </span>
        <span>{count(sums.output)} tokens out</span>
        {sums.unpriced < uses.length && <span>{money(sums.cost)}</span>}
        {sums.unpriced > 0 && (
          <span>
            {sums.unpriced === uses.length ? 'no price known' : `no price known of ${sums.unpriced} calls`}
          </span>
        )}
      </p>
      {uses.length === 0 && <p class="empty">No model call has been answered yet.</p>}
      <div ref={box} class="plot" />
    </div>
  );
}

function plotOf(uses: readonly Use[], box: HTMLElement): uPlot {
  const color = (name: string) => getComputedStyle(box).getPropertyValue(name);
  const line = { stroke: color('--line'), width: 1 };
  const axis = { stroke: color('--muted'), grid: line, ticks: line };
  const tokens: uPlot.Series[] = [
    {},
    { label: 'input tokens', stroke: color('--model'), width: 2 },
    { label: 'output tokens', stroke: color('--tool'), width: 2 },
  ];
  const size = { width: Math.max(280, box.clientWidth), height: 280 };
  const axes: uPlot.Axis[] = [axis, { ...axis, values: (_, all) => all.map(count) }];
  const times = uses.map(({ at }) => Date.parse(at) / 1000);
  const taken = [uses.map(({ inputTokens }) => inputTokens), uses.map(({ outputTokens }) => outputTokens)];
  // Money that is not known is no line at zero.
  if (uses.every(({ cost }) => cost === null))
    return new uPlot({ ...size, axes, series: tokens }, [times, ...taken], box);
  const dollars = {
    ...axis,
    grid: { show: false },
    scale: 'money',
    side: 1 as const,
    size: 64,
    values: (_: unknown, all: number[]) => all.map(money),
  };
  const inAll = { label: 'dollars in all', stroke: color('--money'), width: 2, scale: 'money' };
  let spent = 0;
  const sums = uses.map(({ cost }) => {
    spent += cost ?? 0;
    return spent;
  });
  const options = { ...size, scales: { money: {} }, axes: [...axes, dollars], series: [...tokens, inAll] };
  return new uPlot(options, [times, ...taken, sums], box);
}

function sumsOf(uses: readonly Use[]) {
  return uses.reduce(
    (sum, use) => ({
      input: sum.input + use.inputTokens,
      cached: sum.cached + use.cacheReadTokens,
      output: sum.output + use.outputTokens,
      cost: sum.cost + (use.cost ?? 0),
      unpriced: sum.unpriced + (use.cost === null ? 1 : 0),
    }),
    { input: 0, cached: 0, output: 0, cost: 0, unpriced: 0 },
  );
}
