import type {
  metricsRequest,
  OtlpAttribute,
  OtlpMetric,
  OtlpSpan,
  OtlpValue,
  tracesRequest,
} from './otlp.js';

type Field = readonly Buffer[];

/** The same as the JSON of `/v1/traces`, as protobuf. Numbers of fields are those of the published schema. */
export function tracesProtobuf({ resourceSpans }: ReturnType<typeof tracesRequest>): Buffer {
  return joined(
    resourceSpans.map(({ resource, scopeSpans }) =>
      message(1, [
        message(1, attributes(1, resource.attributes)),
        ...scopeSpans.map(({ scope, spans }) =>
          message(2, [scopeField(scope), ...spans.map((span) => message(2, spanFields(span)))]),
        ),
      ]),
    ),
  );
}

/** The same for `/v1/metrics`. */
export function metricsProtobuf({ resourceMetrics }: ReturnType<typeof metricsRequest>): Buffer {
  return joined(
    resourceMetrics.map(({ resource, scopeMetrics }) =>
      message(1, [
        message(1, attributes(1, resource.attributes)),
        ...scopeMetrics.map(({ scope, metrics }) =>
          message(2, [scopeField(scope), ...metrics.map((metric) => message(2, metricFields(metric)))]),
        ),
      ]),
    ),
  );
}

function scopeField({ name, version }: { readonly name: string; readonly version: string }): Field {
  return message(1, [text(1, name), text(2, version)]);
}

function spanFields(span: OtlpSpan): Field[] {
  const { status } = span;
  return [
    bytes(1, Buffer.from(span.traceId, 'hex')),
    bytes(2, Buffer.from(span.spanId, 'hex')),
    text(3, span.traceState ?? ''),
    bytes(4, Buffer.from(span.parentSpanId ?? '', 'hex')),
    text(5, span.name),
    varint(6, span.kind),
    fixed64(7, span.startTimeUnixNano),
    fixed64(8, span.endTimeUnixNano),
    ...attributes(9, span.attributes),
    ...span.events.map((event) =>
      message(11, [fixed64(1, event.timeUnixNano), text(2, event.name), ...attributes(3, event.attributes)]),
    ),
    message(15, [text(2, status.message ?? ''), varint(3, status.code ?? 0)]),
    fixed32(16, span.flags),
  ];
}

function metricFields(metric: OtlpMetric): Field[] {
  const head = [text(1, metric.name), text(2, metric.description), text(3, metric.unit)];
  if ('sum' in metric) {
    const { dataPoints, aggregationTemporality } = metric.sum;
    const points = dataPoints.map((point) => message(1, [...pointFields(point, 7), fixed64(6, point.asInt)]));
    return [...head, message(7, [...points, varint(2, aggregationTemporality), varint(3, 1)])];
  }
  const { dataPoints, aggregationTemporality } = metric.histogram;
  const points = dataPoints.map((point) =>
    message(1, [
      ...pointFields(point, 9),
      fixed64(4, point.count),
      double(5, point.sum),
      bytes(6, Buffer.concat(point.bucketCounts.map(fixed64Bytes))),
      bytes(7, Buffer.concat(point.explicitBounds.map(doubleBytes))),
      double(11, point.min),
      double(12, point.max),
    ]),
  );
  return [...head, message(9, [...points, varint(2, aggregationTemporality)])];
}

function pointFields(
  point: {
    readonly attributes: readonly OtlpAttribute[];
    readonly startTimeUnixNano: string;
    readonly timeUnixNano: string;
  },
  attributesNumber: number,
): Field[] {
  return [
    ...attributes(attributesNumber, point.attributes),
    fixed64(2, point.startTimeUnixNano),
    fixed64(3, point.timeUnixNano),
  ];
}

function attributes(number: number, list: readonly OtlpAttribute[]): Field[] {
  return list.map(({ key, value }) => message(number, [text(1, key), message(2, valueFields(value))]));
}

function valueFields(value: OtlpValue): Field[] {
  if ('stringValue' in value) return [bytes(1, Buffer.from(value.stringValue), { isKept: true })];
  if ('boolValue' in value) return [varint(2, value.boolValue ? 1 : 0, { isKept: true })];
  if ('intValue' in value) return [varint(3, BigInt.asUintN(64, BigInt(value.intValue)), { isKept: true })];
  if ('doubleValue' in value) return [double(4, value.doubleValue)];
  return [
    message(
      5,
      value.arrayValue.values.map((each) => message(1, valueFields(each))),
    ),
  ];
}

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

function tag(number: number, type: number): Buffer {
  return varintBytes((number << 3) | type);
}

function varintBytes(value: number | bigint): Buffer {
  const out: number[] = [];
  let rest = BigInt(value);
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    out.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(out);
}

/** What has its default value is left out, but for members of a choice. */
function varint(number: number, value: number | bigint, { isKept = false } = {}): Field {
  if (!isKept && BigInt(value) === 0n) return [];
  return [tag(number, wireTypes.varint), varintBytes(value)];
}

function bytes(number: number, value: Buffer, { isKept = false } = {}): Field {
  if (!isKept && value.length === 0) return [];
  return [tag(number, wireTypes.bytes), varintBytes(value.length), value];
}

function text(number: number, value: string): Field {
  return bytes(number, Buffer.from(value));
}

function message(number: number, fields: readonly Field[]): Field {
  return bytes(number, joined(fields), { isKept: true });
}

function fixed64Bytes(value: string): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64LE(BigInt(value));
  return buffer;
}

function fixed64(number: number, value: string): Field {
  return [tag(number, wireTypes.fixed64), fixed64Bytes(value)];
}

function fixed32(number: number, value: number): Field {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return [tag(number, wireTypes.fixed32), buffer];
}

function doubleBytes(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleLE(value);
  return buffer;
}

function double(number: number, value: number): Field {
  return [tag(number, wireTypes.fixed64), doubleBytes(value)];
}

function joined(fields: readonly Field[]): Buffer {
  return Buffer.concat(fields.flat());
}
