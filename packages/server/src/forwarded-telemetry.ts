import { randomUUID } from 'node:crypto';
import type { EventType, NotificationParams, Notifications, SessionEvent } from '@groundcrew/protocol';
import type { PublishedEvent } from '@groundcrew/runtime';

type Forwarded = NotificationParams<Notifications['gitHubTelemetry.event']>;
type Measured = Pick<Forwarded['event'], 'kind' | 'properties' | 'metrics'>;

/** What clients that ask for it are sent of their sessions: names, counts and times; never what was written. */
export class ForwardedTelemetry {
  /** One for the life of the process. */
  readonly engagementId = randomUUID();
  private readonly silent = new Set<string>();
  private readonly features = new Map<string, Readonly<Record<string, string>>>();

  constructor(private readonly version: string) {}

  /** Go with all later telemetry of the session. */
  setFeatures(sessionId: string, features: Readonly<Record<string, string>>): void {
    this.features.set(sessionId, { ...this.features.get(sessionId), ...features });
  }

  /** Whether anything of the session is forwarded at all. */
  allow(sessionId: string, isAllowed: boolean): void {
    if (isAllowed) this.silent.delete(sessionId);
    else this.silent.add(sessionId);
  }

  /** The session is deleted. */
  remove(sessionId: string): void {
    this.silent.delete(sessionId);
    this.features.delete(sessionId);
  }

  /** What an event is in the telemetry; nothing where it is no part of it. */
  of(published: PublishedEvent): Forwarded | undefined {
    const measure = measures[published.type];
    const { sessionId } = published;
    if (!measure || this.silent.has(sessionId)) return undefined;
    const { event } = published;
    const { kind, properties, metrics } = measure(event);
    const all = {
      ...properties,
      event_id: event.id,
      version: this.version,
      engagement_id: this.engagementId,
    };
    return {
      sessionId,
      restricted: false,
      event: {
        kind,
        properties: textsOf(all),
        metrics: numbersOf(metrics),
        features: { ...this.features.get(sessionId) },
        session_id: sessionId,
      },
    };
  }
}

interface Raw {
  readonly kind: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly metrics: Readonly<Record<string, unknown>>;
}

const measures: { readonly [K in EventType]?: (event: SessionEvent) => Raw } = {
  'session.start': ({ data }) => raw('session_start', { selected_model: fieldOf(data, 'selectedModel') }),
  'session.resume': ({ data }) => raw('session_resume', {}, { event_count: fieldOf(data, 'eventCount') }),
  'session.shutdown': ({ data }) =>
    raw(
      'session_shutdown',
      { shutdown_type: fieldOf(data, 'shutdownType'), current_model: fieldOf(data, 'currentModel') },
      { total_api_duration_ms: fieldOf(data, 'totalApiDurationMs') },
    ),
  'session.error': ({ data }) => raw('session_error', { error_type: fieldOf(data, 'errorType') }),
  'session.remote_steerable_changed': ({ data }) =>
    raw('remote_steerable_changed', { remote_steerable: fieldOf(data, 'remoteSteerable') }),
  'assistant.usage': ({ data }) =>
    raw(
      'assistant_usage',
      { model: fieldOf(data, 'model'), finish_reason: fieldOf(data, 'finishReason') },
      {
        input_tokens: fieldOf(data, 'inputTokens'),
        output_tokens: fieldOf(data, 'outputTokens'),
        duration_ms: fieldOf(data, 'duration'),
      },
    ),
  'tool.execution_complete': ({ data }) =>
    raw('tool_call_executed', { success: fieldOf(data, 'success'), model: fieldOf(data, 'model') }),
};

function raw(kind: string, properties: Raw['properties'], metrics: Raw['metrics'] = {}): Raw {
  return { kind, properties, metrics };
}

function fieldOf(data: unknown, name: string): unknown {
  return (data as Readonly<Record<string, unknown>>)[name];
}

function textsOf(values: Readonly<Record<string, unknown>>): Measured['properties'] {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}

function numbersOf(values: Readonly<Record<string, unknown>>): Measured['metrics'] {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  );
}
