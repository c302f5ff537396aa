import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { UsagePoint } from './timeline.js';
import { count, money } from './words.js';

/** Tokens and money over time, as far as this page was there: the log does not keep them. */
export function UsagePlot({ usage }: { readonly usage: readonly UsagePoint[] }) {
  const box = useRef<HTMLDivElement>(null);
  const sums = usage.reduce(
    (sum, point) => ({
      input: sum.input + point.inputTokens,
      output: sum.output + point.outputTokens,
      cost: sum.cost + point.cost,
    }),
    { input: 0, output: 0, cost: 0 },
  );
  useEffect(() => {
    const { current } = box;
    if (!current || usage.length === 0) return undefined;
    const color = (name: string) => getComputedStyle(current).getPropertyValue(name);
    const axis = { stroke: color('--muted'), grid: { stroke: color('--line') } };
    let spent = 0;
    const data: uPlot.AlignedData = [
      usage.map(({ at }) => at / 1000),
      usage.map(({ inputTokens }) => inputTokens),
      usage.map(({ outputTokens }) => outputTokens),
      usage.map(({ cost }) => {
        spent += cost;
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
  }, [usage.length]);
  return (
    <div class="usage">
      <p class="facts">
        <span>{usage.length} model calls</span>
        <span>{count(sums.input)} tokens in</span>
        <span>{count(sums.output)} tokens out</span>
        <span>{money(sums.cost)}</span>
      </p>
      {usage.length === 0 && <p class="empty">Model calls made from now on are drawn here.</p>}
      <div ref={box} class="plot" />
    </div>
  );
}
