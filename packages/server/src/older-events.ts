import type { Dialect } from './dialect.js';

type Data = Readonly<Record<string, unknown>>;

/** The JSON of an event as a client of this dialect can read it; most are as they are. */
export function eventFor(
  dialect: Dialect,
  { type, json }: { readonly type: string; readonly json: string },
): string {
  if (dialect === 'new') return json;
  const rewrite = Object.hasOwn(rewrites, type) ? rewrites[type] : undefined;
  if (!rewrite?.isNeeded(json)) return json;
  const event = JSON.parse(json) as { readonly data: Data };
  return JSON.stringify({ ...event, data: rewrite.data(event.data) });
}

interface Rewrite {
  /** A cheap look at the text, before it is parsed. */
  isNeeded(json: string): boolean;
  data(data: Data): Data;
}

const rewrites: Readonly<Record<string, Rewrite>> = {
  // They refuse a model change that says who made it.
  'session.model_change': {
    isNeeded: (json) => json.includes('"source"'),
    data: ({ source: _source, ...data }) => data,
  },
  // They want a number for what a model cost, be it known or not.
  'session.shutdown': {
    isNeeded: (json) => json.includes('"cost":null'),
    data: (data) => ({ ...data, modelMetrics: withCosts(data.modelMetrics as Metrics) }),
  },
  // They know how a command ended by the name of an earlier release.
  'tool.execution_complete': {
    isNeeded: (json) => json.includes('"shell_exit"'),
    data: (data) => {
      const result = data.result as { readonly contents?: readonly Data[] } | undefined;
      return result ? { ...data, result: { ...result, contents: result.contents?.map(asTerminal) } } : data;
    },
  },
};

interface Metric {
  readonly requests: { readonly cost: number | null };
}
type Metrics = Readonly<Record<string, Metric>>;

function withCosts(metrics: Metrics): Metrics {
  const entries = Object.entries(metrics).map(([model, { requests, ...metric }]): [string, Metric] => [
    model,
    { ...metric, requests: { ...requests, cost: requests.cost ?? 0 } },
  ]);
  return Object.fromEntries(entries);
}

function asTerminal(content: Data): Data {
  if (content.type !== 'shell_exit') return content;
  const { outputPreview = '', exitCode, cwd } = content;
  return { type: 'terminal', text: outputPreview, exitCode, cwd };
}
