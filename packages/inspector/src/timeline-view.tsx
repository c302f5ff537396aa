import { useMemo, useState } from 'preact/hooks';
import { clock, count, duration, money } from './format.js';
import type { Use } from './stored-usage.js';
import type { Span, Turn } from './timeline.js';
import { VirtualList } from './virtual-list.js';

/** What model calls took, by the event that each became. */
type UsesByEvent = ReadonlyMap<string, Use>;

/** Turns as bars of time, tokens and money; the chosen one as a waterfall. */
export function TimelineView({
  turns,
  uses,
}: {
  readonly turns: readonly Turn[];
  readonly uses: readonly Use[];
}) {
  const [chosen, setChosen] = useState<string>();
  const turn = turns.find(({ eventId }) => eventId === chosen) ?? turns.at(-1);
  const known = useMemo(
    () => new Map(uses.flatMap((use) => (use.eventId === undefined ? [] : [[use.eventId, use] as const]))),
    [uses, uses.length],
  );
  const facts = turns.map((each) => factsOf(each, known));
  const most = mostOf(facts);
  if (!turn) return <p class="empty">No turn yet.</p>;
  return (
    <div class="timeline">
      <VirtualList
        items={turns}
        rowHeight={56}
        label="Turns"
        row={(each, index) => {
          const { time, tokens, cost } = facts[index] ?? factsOf(each, known);
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
      <Waterfall turn={turn} known={known} />
    </div>
  );
}

function mostOf(facts: readonly ReturnType<typeof factsOf>[]) {
  return {
    time: largest(
      facts.map(({ time }) => time),
      1,
    ),
    tokens: largest(
      facts.map(({ tokens }) => tokens),
      1,
    ),
    cost: largest(
      facts.map(({ cost }) => cost),
      1e-9,
    ),
  };
}

/** The largest of many numbers: too many to be arguments of a call. */
function largest(numbers: readonly number[], least: number): number {
  return numbers.reduce((most, each) => Math.max(most, each), least);
}

function factsOf({ start, end, spans }: Turn, known: UsesByEvent) {
  const uses = spans.flatMap((span) => useOf(span, known) ?? []);
  return {
    time: end - start,
    tokens: uses.reduce((sum, { inputTokens, outputTokens }) => sum + inputTokens + outputTokens, 0),
    cost: uses.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
  };
}

function useOf({ answerId }: Span, known: UsesByEvent): Use | undefined {
  return answerId === undefined ? undefined : known.get(answerId);
}

function Bar({ kind, part, text }: { readonly kind: string; readonly part: number; readonly text: string }) {
  return (
    <span class="bar-cell">
      <span class={`fill ${kind}`} style={{ width: `${Math.max(1, part * 100)}%` }} />
      <span class="bar-text">{text}</span>
    </span>
  );
}

/** What an agent did stands below the call that started it, however many work at once. */
function inOrder(spans: readonly Span[]): readonly Span[] {
  const agents = new Map(spans.filter(({ kind }) => kind === 'agent').map((span) => [span.id, span]));
  if (agents.size === 0) return spans;
  const byAgent = new Map<string | undefined, Span[]>();
  for (const span of spans) {
    const own = byAgent.get(span.agentId);
    if (own) own.push(span);
    else byAgent.set(span.agentId, [span]);
  }
  const ordered = new Set<Span>();
  const put = (span: Span): void => {
    if (ordered.has(span)) return;
    ordered.add(span);
    const agent = agents.get(`agent ${span.id}`);
    if (!agent) return;
    ordered.add(agent);
    for (const each of byAgent.get(agent.agentId) ?? []) put(each);
  };
  for (const span of byAgent.get(undefined) ?? []) put(span);
  // An agent that an earlier turn has started.
  for (const span of spans) put(span);
  return [...ordered];
}

function Waterfall({ turn, known }: { readonly turn: Turn; readonly known: UsesByEvent }) {
  const length = Math.max(1, turn.end - turn.start);
  return (
    <div class="waterfall" role="region" aria-label="Waterfall of the turn" tabIndex={0}>
      {inOrder(turn.spans).map((span, index) => {
        const end = span.end ?? turn.end;
        const use = useOf(span, known);
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
              {use && ` · ${count(use.inputTokens)}→${count(use.outputTokens)}`}
              {use?.cost ? ` · ${money(use.cost)}` : ''}
            </span>
          </div>
        );
      })}
    </div>
  );
}
