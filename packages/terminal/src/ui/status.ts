import type { Transcript, TranscriptWait } from '@groundcrew/sdk';
import { cleanLine } from '../text/clean.js';
import { cut, type Line, type Span, span } from '../text/span.js';

/** What a status line shows beside the transcript. */
export interface StatusFacts {
  readonly model: string | undefined;
  readonly mode: string;
  readonly agent: string | undefined;
  readonly connection: 'connected' | 'reconnecting' | 'lost';
  /** What the session has used before this screen was there. */
  readonly earlier: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cost: number | null;
  };
  readonly hint: string | undefined;
}

/** Model, mode, the fill of the context window, tokens and money. */
export function statusLine(transcript: Transcript, facts: StatusFacts, columns: number): Line {
  const { usage, title } = transcript;
  const { earlier } = facts;
  const cost = usage.cost === null || earlier.cost === null ? null : usage.cost + earlier.cost;
  const input = usage.inputTokens + earlier.inputTokens;
  const output = usage.outputTokens + earlier.outputTokens;
  // A name of any length leaves the rest in sight.
  const who = facts.agent ? `${facts.agent} on ${facts.model ?? 'a model'}` : (facts.model ?? '');
  const parts: readonly (Span | undefined)[] = [
    facts.hint === undefined ? undefined : span(facts.hint, 'warning'),
    connectionSpan(facts.connection),
    span(
      cut([span(cleanLine(who))], Math.floor(columns / 2))
        .map(({ text }) => text)
        .join(''),
      'dim',
    ),
    facts.mode === 'interactive' ? undefined : span(`${facts.mode} mode`, 'accent'),
    gauge(usage.context),
    input + output > 0 ? span(`↑${amount(input)} ↓${amount(output)}`, 'dim') : undefined,
    cost !== null && cost > 0 ? span(money(cost), 'dim') : undefined,
    title === undefined ? undefined : span(cleanLine(title), 'dim'),
  ];
  const shown = parts.filter((each): each is Span => each !== undefined && each.text !== '');
  return cut(
    shown.flatMap((each, index) => (index === 0 ? [each] : [span(' · ', 'dim'), each])),
    columns,
  );
}

/** What the session waits for, and for how long. */
export function waitLine(
  waits: readonly TranscriptWait[],
  { seconds, retry }: { readonly seconds: number; readonly retry: string | undefined },
): Line {
  const [first] = waits;
  if (!first || first.type === 'question') return [];
  const more = waits.length > 1 ? ` and ${waits.length - 1} more` : '';
  const what = first.type === 'model' ? 'the model' : `${cleanLine(first.name)}${more}`;
  const why = retry === undefined ? [] : [span(` · after: ${cleanLine(retry)}`, 'warning')];
  return [
    span('… ', 'accent'),
    span(`waiting for ${what}, ${duration(seconds)}`, 'dim'),
    ...why,
    span(' · Ctrl-C stops', 'dim'),
  ];
}

function connectionSpan(connection: StatusFacts['connection']): Span | undefined {
  if (connection === 'reconnecting') return span('connection lost, trying again', 'warning');
  return connection === 'lost' ? span('connection lost', 'bad') : undefined;
}

/** How full the context window is. */
function gauge(context: Transcript['usage']['context']): Span | undefined {
  if (!context || context.limit <= 0) return undefined;
  const share = Math.min(1, context.tokens / context.limit);
  const filled = Math.round(share * 8);
  const bar = `${'▰'.repeat(filled)}${'▱'.repeat(8 - filled)}`;
  return span(`${bar} ${Math.round(share * 100)} %`, share > 0.8 ? 'warning' : 'dim');
}

function amount(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  return tokens < 1_000_000 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

function money(dollars: number): string {
  return dollars < 0.01 ? '< $0.01' : `$${dollars.toFixed(2)}`;
}

function duration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
