import { useState } from 'preact/hooks';
import type { Span, Timeline, Turn } from './timeline.js';
import { VirtualList } from './virtual-list.js';
import { clock, count, duration, money } from './words.js';

/** Turns as bars of time, tokens and money; the chosen one as a waterfall. */
export function TimelineView({ timeline }: { readonly timeline: Timeline }) {
  const { turns } = timeline;
  const [chosen, setChosen] = useState<string>();
  const turn = turns.find(({ eventId }) => eventId === chosen) ?? turns.at(-1);
  const facts = turns.map(factsOf);
  const most = {
    time: Math.max(1, ...facts.map(({ time }) => time)),
    tokens: Math.max(1, ...facts.map(({ tokens }) => tokens)),
    cost: Math.max(1e-9, ...facts.map(({ cost }) => cost)),
  };
  if (!turn) return <p class="empty">No turn yet.</p>;
  return (
    <div class="timeline">
      <VirtualList
        items={turns}
        rowHeight={56}
        label="Turns"
        row={(each, index) => {
          const { time, tokens, cost } = facts[index] ?? factsOf(each);
          return (
            <button
              type="button"
              class={each === turn ? 'turn selected' : 'turn'}
              aria-pressed={each === turn}
              onClick={() => setChosen(each.eventId)}
            >
              <span class="title">
                {clock(each.start)} {each.prompt.slice(0, 200)}
              </span>
              <span class="bars">
                <Bar kind="time" part={time / most.time} text={duration(time)} />
                <Bar kind="tokens" part={tokens / most.tokens} text={`${count(tokens)} tokens`} />
                <Bar
                  kind="money"
                  part={cost / most.cost}
                  text={cost === 0 ? 'no price known' : money(cost)}
                />
              </span>
            </button>
          );
        }}
      />
      <Waterfall turn={turn} />
    </div>
  );
}

function factsOf({ start, end, spans }: Turn) {
  const sum = (value: (span: Span) => number) => spans.reduce((total, span) => total + value(span), 0);
  return {
    time: end - start,
    tokens: sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
    cost: sum(({ cost }) => cost),
  };
}

function Bar({ kind, part, text }: { readonly kind: string; readonly part: number; readonly text: string }) {
  return (
    <span class="bar-cell">
      <span class={`fill ${kind}`} style={{ width: `${Math.max(1, part * 100)}%` }} />
      <span class="bar-text">{text}</span>
    </span>
  );
}

function Waterfall({ turn }: { readonly turn: Turn }) {
  const length = Math.max(1, turn.end - turn.start);
  return (
    <div class="waterfall" role="region" aria-label="Waterfall of the turn" tabIndex={0}>
      {turn.spans.map((span, index) => {
        const end = span.end ?? turn.end;
        const left = ((span.start - turn.start) / length) * 100;
        const width = Math.max(0.5, ((end - span.start) / length) * 100);
        return (
          <div class="span" key={index}>
            <span class={span.agentId === undefined ? 'name' : 'name nested'}>
              <span class={`kind ${span.kind}`}>{span.kind}</span> {span.label}
            </span>
            <span class="track">
              <span
                class={`fill ${span.kind} ${span.isFailed ? 'failed' : ''} ${span.end === undefined ? 'open' : ''}`}
                style={{ left: `${left}%`, width: `${Math.min(width, 100 - left)}%` }}
              />
            </span>
            <span class="length">
              {duration(end - span.start)}
              {span.outputTokens > 0 && ` · ${count(span.inputTokens)}→${count(span.outputTokens)}`}
            </span>
          </div>
        );
      })}
    </div>
  );
}
