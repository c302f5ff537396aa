import type { Measured } from './meter.js';
import type { TelemetrySettings } from './settings.js';
import type { EndedSpan } from './span.js';

/** A span as a line of a file. */
export function spanLine(span: EndedSpan, { resource, sourceName, version }: TelemetrySettings): string {
  const { context, failure } = span;
  return JSON.stringify({
    type: 'span',
    traceId: context.traceId,
    spanId: context.spanId,
    parentSpanId: span.parentId ?? '',
    ...(context.state !== undefined && { traceState: context.state }),
    name: span.name,
    kind: span.isCall ? fileKinds.client : fileKinds.internal,
    startTime: pairOf(span.startedAt),
    endTime: pairOf(span.endedAt),
    attributes: span.attributes,
    status: failure === undefined ? { code: 0 } : { code: 2, message: failure },
    events: span.events.map(({ name, at, attributes }) => ({
      name,
      attributes,
      time: pairOf(at),
      droppedAttributesCount: 0,
    })),
    resource: { attributes: resource },
    instrumentationScope: { name: sourceName, version },
  });
}

/** Everything that was measured with one instrument, as a line of a file. */
export function metricLine(
  { name, description, unit, bounds, points }: Measured,
  { startedAt, at }: { readonly startedAt: number; readonly at: number },
): string {
  const dataPoints = points.map((point) => {
    const { attributes, count, sum, min, max, buckets: counts } = point;
    const place = { attributes, startTime: pairOf(startedAt), endTime: pairOf(at) };
    if (!bounds) return { ...place, value: sum };
    return { ...place, value: { buckets: { boundaries: bounds, counts }, count, sum, min, max } };
  });
  return JSON.stringify({ type: 'metric', name, description, unit, dataPoints });
}

const fileKinds = { internal: 0, client: 2 } as const;

/** Seconds and nanoseconds. */
function pairOf(milliseconds: number): readonly [number, number] {
  const microseconds = Math.round(milliseconds * 1000);
  return [Math.floor(microseconds / 1e6), (microseconds % 1e6) * 1000];
}
