import type { Age } from './client-age.js';

type Data = Readonly<Record<string, unknown>>;

/** An event by its type, and its JSON. */
interface EventText {
  readonly type: string;
  readonly json: string;
}

/** The JSON of an event as a client of this age can read it; most are as they are. Undefined for one that it cannot. */
export function eventFor(age: Age, event: EventText): string | undefined {
  if (age === 'new') return event.json;
  const isOldest = age === 'oldest';
  if (event.type === 'session.permissions_changed' || (isOldest && event.type === 'elicitation.completed'))
    return undefined;
  return rewritten(event, isOldest ? oldestRewrites : rewrites);
}

/**
 * The same for a client that may be of 1.0.0-beta.10 to 1.0.4, whose parsers refuse a `shell_exit`. Releases of every age
 * read how a command ended as a `terminal`; what that has no field for stands beside.
 */
export function eventForRecent({ type, json }: EventText): string {
  return rewritten({ type, json }, recentRewrites);
}

/**
 * The same for a client that is asked by requests; undefined for an event that it does not get. Releases that serve
 * both ways would handle the events of protocol 3 a second time, and parsers of the time refuse the others.
 */
export function eventForProtocol(protocol: 1 | 2, event: EventText): string | undefined {
  const isUnknown = protocol === 1 ? !knownToProtocol1.has(event.type) : unknownToProtocol2.has(event.type);
  if (isUnknown) return undefined;
  const json = eventFor('oldest', event);
  return json === undefined ? undefined : rewritten({ type: event.type, json }, firstRewrites[protocol]);
}

const unknownToProtocol2: ReadonlySet<string> = new Set([
  'external_tool.completed',
  'external_tool.requested',
  'permission.completed',
  'permission.requested',
]);

/** Parsers of the first releases refuse an event of any other kind, and with it the whole history. */
const knownToProtocol1: ReadonlySet<string> = new Set([
  'abort',
  'assistant.intent',
  'assistant.message',
  'assistant.message_delta',
  'assistant.reasoning',
  'assistant.reasoning_delta',
  'assistant.turn_end',
  'assistant.turn_start',
  'assistant.usage',
  'hook.end',
  'hook.start',
  'pending_messages.modified',
  'session.error',
  'session.handoff',
  'session.idle',
  'session.info',
  'session.model_change',
  'session.resume',
  'session.start',
  'session.truncation',
  'system.message',
  'tool.execution_complete',
  'tool.execution_partial_result',
  'tool.execution_start',
  'tool.user_requested',
  'user.message',
]);

type Rewrites = Readonly<Record<string, Rewrite>>;

interface Rewrite {
  /** A cheap look at the text, before it is parsed. */
  isNeeded(json: string): boolean;
  data(data: Data): Data;
}

function rewritten({ type, json }: EventText, table: Rewrites): string {
  const rewrite = Object.hasOwn(table, type) ? table[type] : undefined;
  if (!rewrite?.isNeeded(json)) return json;
  const event = JSON.parse(json) as { readonly data: Data };
  return JSON.stringify({ ...event, data: rewrite.data(event.data) });
}

const rewrites: Rewrites = {
  // They know no such reason.
  abort: {
    isNeeded: (json) => json.includes('"subagent_cancelled"'),
    data: (data) => ({ ...data, reason: 'user_initiated' }),
  },
  // They refuse a model change with the field that names its cause.
  'session.model_change': {
    isNeeded: (json) => json.includes('"source"'),
    data: ({ source: _source, ...data }) => data,
  },
  // They want a number for what a model cost, be it known or not.
  'session.shutdown': {
    isNeeded: (json) => json.includes('"cost":null'),
    data: (data) => ({ ...data, modelMetrics: withCosts(data.modelMetrics as Metrics) }),
  },
  // An agent has a name to be shown.
  'subagent.selected': {
    isNeeded: (json) => !json.includes('"agentDisplayName"'),
    data: (data) => ({ ...data, agentDisplayName: data.agentName ?? '' }),
  },
  // They know how a command ended by the name of an earlier release.
  'tool.execution_complete': {
    isNeeded: (json) => json.includes('"shell_exit"'),
    data: (data) => withContents(data, asTerminal),
  },
  // What was attached and is kept elsewhere has no data here.
  'user.message': {
    isNeeded: (json) => json.includes('"assetId"'),
    data: (data) =>
      withAttachments(data, ({ type, data: inside }) => type !== 'blob' || inside !== undefined),
  },
};

/** Releases before 0.3.0 know what a compaction took by other names. */
const oldestRewrites: Rewrites = {
  ...rewrites,
  'session.compaction_complete': {
    isNeeded: (json) => json.includes('"compactionTokensUsed"'),
    data: (data) => {
      const { inputTokens, outputTokens, cacheReadTokens } = (data.compactionTokensUsed ?? {}) as Data;
      const used = { input: inputTokens ?? 0, output: outputTokens ?? 0, cachedInput: cacheReadTokens ?? 0 };
      return { ...data, compactionTokensUsed: used };
    },
  },
};

/** Files and directories are all that could be attached when these releases were made. */
const protocol2Rewrites: Rewrites = {
  'user.message': {
    isNeeded: (json) => json.includes('"attachments"'),
    data: (data) => withAttachments(data, ({ type }) => type === 'file' || type === 'directory'),
  },
};

const withoutContext: Rewrite = {
  isNeeded: (json) => json.includes('"context"'),
  data: ({ context: _context, ...data }) => data,
};

/** The context of a session was a text in the first releases. */
const firstRewrites: Readonly<Record<1 | 2, Rewrites>> = {
  1: { ...protocol2Rewrites, 'session.resume': withoutContext, 'session.start': withoutContext },
  2: protocol2Rewrites,
};

function withAttachments(data: Data, isReadable: (attachment: Data) => boolean): Data {
  return { ...data, attachments: ((data.attachments ?? []) as readonly Data[]).filter(isReadable) };
}

interface Metric {
  readonly requests: { readonly cost: number | null };
}
type Metrics = Readonly<Record<string, Metric>>;

const recentRewrites: Rewrites = {
  'tool.execution_complete': {
    isNeeded: (json) => json.includes('"shell_exit"'),
    data: (data) => withContents(data, asFullTerminal),
  },
};

function withCosts(metrics: Metrics): Metrics {
  const entries = Object.entries(metrics).map(([model, { requests, ...metric }]): [string, Metric] => [
    model,
    { ...metric, requests: { ...requests, cost: requests.cost ?? 0 } },
  ]);
  return Object.fromEntries(entries);
}

function withContents(data: Data, change: (content: Data) => Data): Data {
  const result = data.result as { readonly contents?: readonly Data[] } | undefined;
  return result ? { ...data, result: { ...result, contents: result.contents?.map(change) } } : data;
}

function asFullTerminal(content: Data): Data {
  return content.type === 'shell_exit' ? { ...content, ...asTerminal(content) } : content;
}

function asTerminal(content: Data): Data {
  if (content.type !== 'shell_exit') return content;
  const { outputPreview = '', exitCode, cwd } = content;
  return { type: 'terminal', text: outputPreview, exitCode, cwd };
}
