import type { Measured, Point } from './meter.js';
import { attributes as names } from './names.js';
import type { TelemetrySettings } from './settings.js';
import type { Attributes, AttributeValue, EndedSpan } from './span.js';

/** A value as OTLP writes it in JSON. */
export type OtlpValue =
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly OtlpValue[] } };

export interface OtlpAttribute {
  readonly key: string;
  readonly value: OtlpValue;
}

/** What the `/v1/traces` endpoint of a collector takes. */
export function tracesRequest(spans: readonly EndedSpan[], settings: TelemetrySettings) {
  return {
    resourceSpans: [
      {
        resource: { attributes: attributesOf(settings.resource) },
        scopeSpans: [{ scope: scopeOf(settings), spans: spans.map(spanOf) }],
      },
    ],
  };
}

export type OtlpSpan = ReturnType<typeof spanOf>;
export type OtlpMetric = ReturnType<typeof metricOf>;

/** What the `/v1/metrics` endpoint of a collector takes. */
export function metricsRequest(
  measured: readonly Measured[],
  { settings, startedAt, at }: MetricsMoment & { readonly settings: TelemetrySettings },
) {
  return {
    resourceMetrics: [
      {
        resource: { attributes: attributesOf(settings.resource) },
        scopeMetrics: [
          { scope: scopeOf(settings), metrics: measured.map((each) => metricOf(each, { startedAt, at })) },
        ],
      },
    ],
  };
}

interface MetricsMoment {
  readonly startedAt: number;
  readonly at: number;
}

const sampledFlag = 0x01;
/** The parent's place is known, and it is in another process when the second bit says so. */
const hasRemoteBit = 0x100;

function spanOf(span: EndedSpan) {
  const { context, parentId, failure } = span;
  return {
    traceId: context.traceId,
    spanId: context.spanId,
    ...(context.state !== undefined && { traceState: context.state }),
    ...(parentId !== undefined && { parentSpanId: parentId }),
    flags: sampledFlag | hasRemoteBit,
    name: span.name,
    kind: span.isCall ? kinds.client : kinds.internal,
    startTimeUnixNano: nanoseconds(span.startedAt),
    endTimeUnixNano: nanoseconds(span.endedAt),
    attributes: attributesOf(span.attributes),
    events: span.events.map(({ name, at, attributes }) => ({
      name,
      timeUnixNano: nanoseconds(at),
      attributes: attributesOf(attributes),
    })),
    status: failure === undefined ? {} : { code: errorCode, message: failure },
  };
}

const kinds = { internal: 1, client: 3 } as const;
const errorCode = 2;
const cumulative = 2;

function metricOf({ name, description, unit, bounds, points }: Measured, moment: MetricsMoment) {
  const common = { name, description, unit };
  if (!bounds) {
    const dataPoints = points.map((point) => ({ ...pointOf(point, moment), asInt: String(point.sum) }));
    return { ...common, sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
  }
  const dataPoints = points.map((point) => ({
    ...pointOf(point, moment),
    count: String(point.count),
    sum: point.sum,
    min: point.min,
    max: point.max,
    bucketCounts: point.buckets.map(String),
    explicitBounds: bounds,
  }));
  return { ...common, histogram: { aggregationTemporality: cumulative, dataPoints } };
}

function pointOf({ attributes }: Point, { startedAt, at }: MetricsMoment) {
  return {
    attributes: attributesOf(attributes),
    startTimeUnixNano: nanoseconds(startedAt),
    timeUnixNano: nanoseconds(at),
  };
}

function scopeOf({ sourceName, version }: TelemetrySettings) {
  return { name: sourceName, version };
}

function attributesOf(attributes: Attributes): readonly OtlpAttribute[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: otlpValue(value, key) }));
}

/** Times are fractions even where they happen to be whole. */
const fractions: ReadonlySet<string> = new Set([names.timeToFirstChunk, names.retryDelay]);

function otlpValue(value: AttributeValue, key: string): OtlpValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && !fractions.has(key)
      ? { intValue: String(value) }
      : { doubleValue: value };
  return { arrayValue: { values: value.map((each) => ({ stringValue: each })) } };
}

/** Whole nanoseconds; a number would lose the last of their digits. */
function nanoseconds(milliseconds: number): string {
  return String(BigInt(Math.round(milliseconds * 1000)) * 1000n);
}
