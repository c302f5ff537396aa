import type { Age } from './age.js';

type Data = Readonly<Record<string, unknown>>;

/** An event by its type, and its JSON. */
interface EventText {
  readonly type: string;
  readonly json: string;
}

/** The JSON of an event as a client of this age can read it; most are as they are. */
export function eventFor(age: Age, { type, json }: EventText): string {
  if (age === 'new') return json;
  const rewrite = Object.hasOwn(rewrites, type) ? rewrites[type] : undefined;
  if (!rewrite?.isNeeded(json)) return json;
  const event = JSON.parse(json) as { readonly data: Data };
  return JSON.stringify({ ...event, data: rewrite.data(event.data) });
}

/**
 * Whether a client of protocol 2 gets an event at all. It is asked by requests, and releases that serve both would
 * handle the events of protocol 3 a second time; parsers of its time refuse the others.
 */
export function isKnownToProtocol2({ type }: EventText): boolean {
  return !unknownToProtocol2.has(type);
}

const unknownToProtocol2: ReadonlySet<string> = new Set([
  'elicitation.completed',
  'external_tool.completed',
  'external_tool.requested',
  'permission.completed',
  'permission.requested',
]);

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
