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
    const color = (name: string) => getComputedStyle(current).getPropertyValue(name);
    const axis = { stroke: color('--muted'), grid: { stroke: color('--line') } };
    let spent = 0;
    const data: uPlot.AlignedData = [
      uses.map(({ at }) => Date.parse(at) / 1000),
      uses.map(({ inputTokens }) => inputTokens),
      uses.map(({ outputTokens }) => outputTokens),
      uses.map(({ cost }) => {
        spent += cost ?? 0;
        return spent;
      }),
    ];
    const plot = new uPlot(
      {
        width: Math.max(280, current.clientWidth),
        height: 280,
        scales: { money: {} },
        axes: [
          axis,
          axis,
          { ...axis, scale: 'money', side: 1, values: (_, all) => all.map((each) => money(each)) },
        ],
        series: [
          {},
          { label: 'input tokens', stroke: color('--model'), width: 2 },
          { label: 'output tokens', stroke: color('--tool'), width: 2 },
          { label: 'dollars in all', stroke: color('--money'), width: 2, scale: 'money' },
        ],
      },
      data,
      current,
    );
    return () => plot.destroy();
  }, [uses, drawn]);
  return (
    <div class="usage">
      <p class="facts">
        <span>{uses.length === 1 ? '1 model call' : `${uses.length} model calls`}</span>
        <span>
          {count(sums.input)} tokens in, {count(sums.cached)} of them from a cache
        </span>
        <span>{count(sums.output)} tokens out</span>
        <span>{money(sums.cost)}</span>
        {sums.unpriced > 0 && <span>no price known of {sums.unpriced}</span>}
      </p>
      {uses.length === 0 && <p class="empty">No model call has been answered yet.</p>}
      <div ref={box} class="plot" />
    </div>
  );
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
