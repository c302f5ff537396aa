import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';

/** A span as the official schema decodes it. */
export interface DecodedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly kind: number;
  readonly status: { readonly code?: number; readonly message?: string };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly events: readonly {
    readonly name: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  }[];
  readonly milliseconds: number;
}

/** An instrument as the official schema decodes it. */
export interface DecodedMetric {
  readonly name: string;
  readonly unit: string;
  readonly points: readonly {
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly count?: number;
    readonly sum: number;
    readonly buckets?: readonly number[];
    readonly bounds?: readonly number[];
  }[];
}

interface Posted {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface MessageType {
  verify(value: object): string | null;
  fromObject(value: object): object;
  decode(bytes: Uint8Array): object;
  toObject(value: object, options: object): Record<string, unknown>;
}

// The messages of the published schema, as the official exporter has them.
const load = createRequire(import.meta.url);
const schema = load('@opentelemetry/otlp-transformer/build/src/generated/root.js') as {
  readonly opentelemetry: {
    readonly proto: {
      readonly collector: {
        readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: MessageType } };
        readonly metrics: { readonly v1: { readonly ExportMetricsServiceRequest: MessageType } };
      };
    };
  };
};
const { trace, metrics } = schema.opentelemetry.proto.collector;

/** A collector of OTLP over HTTP: takes what comes, and decodes it by the official schema. */
export class Collector {
  readonly posted: Posted[] = [];
  /** What it answers with. */
  status = 200;
  private readonly waiting = new Set<() => void>();

  private constructor(private readonly server: Server) {}

  static async open(): Promise<Collector> {
    const server = createServer();
    const collector = new Collector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const raw = Buffer.concat(chunks);
        const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
        collector.posted.push({ path: request.url ?? '', headers: request.headers, body });
        response.writeHead(collector.status, { 'content-type': 'application/json' });
        response.end('{}');
        for (const wake of collector.waiting) wake();
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves when what came satisfies this. */
  async until(isEnough: () => boolean): Promise<void> {
    while (!isEnough())
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.waiting.delete(wake);
          resolve();
        };
        this.waiting.add(wake);
      });
  }

  get spans(): readonly DecodedSpan[] {
    return this.posted
      .filter(({ path }) => path === '/v1/traces')
      .flatMap((post) => spansIn(decoded(trace.v1.ExportTraceServiceRequest, post)));
  }

  /** As they were posted last. */
  get metrics(): readonly DecodedMetric[] {
    const last = this.posted.filter(({ path }) => path === '/v1/metrics').at(-1);
    return last ? metricsIn(decoded(metrics.v1.ExportMetricsServiceRequest, last)) : [];
  }

  async close(): Promise<void> {
    this.server.close();
    this.server.closeAllConnections();
    await once(this.server, 'close');
  }
}

function decoded(type: MessageType, { headers, body }: Posted): Record<string, unknown> {
  const options = { longs: Number, bytes: String, defaults: true, arrays: true, oneofs: true };
  if (headers['content-type'] === 'application/x-protobuf') return type.toObject(type.decode(body), options);
  // JSON of OTLP differs from that of protobuf in one thing: ids are hexadecimal.
  const value = JSON.parse(body.toString(), (key, each: unknown) =>
    /^(?:traceId|spanId|parentSpanId)$/.test(key)
      ? Buffer.from(String(each), 'hex').toString('base64')
      : each,
  ) as object;
  checkFields(value, type);
  return type.toObject(type.fromObject(value), options);
}

/** The schema takes fields that it does not know without a word: what it lost is a mistake. */
function checkFields(value: object, type: MessageType): void {
  const problem = type.verify(type.fromObject(value));
  if (problem) throw new Error(problem);
  const kept = JSON.stringify(
    type.toObject(type.fromObject(value), { longs: String, bytes: String, arrays: true }),
  );
  const names = (text: string) =>
    [...new Set([...text.matchAll(/"(\w+)":/g)].map(([, name]) => name))].sort();
  const lost = names(JSON.stringify(value)).filter((name) => !names(kept).includes(name));
  if (lost.length > 0) throw new Error(`The schema does not know ${lost.join(', ')}`);
}

// biome-ignore lint/suspicious/noExplicitAny: the schema decodes into whatever the message has
type Values = any;

interface RawAttribute {
  readonly key: string;
  readonly value: {
    readonly value: string;
    readonly arrayValue?: { readonly values: readonly RawAttribute['value'][] };
  } & Readonly<Record<string, unknown>>;
}

function attributesOf(list: readonly RawAttribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(list.map(({ key, value }) => [key, valueIn(value)]));
}

function valueIn(value: RawAttribute['value']): unknown {
  return value.value === 'arrayValue' ? value.arrayValue?.values.map(valueIn) : value[value.value];
}

function spansIn(request: Record<string, unknown>): readonly DecodedSpan[] {
  const { resourceSpans } = request as {
    resourceSpans: readonly { scopeSpans: readonly { spans: Values[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span: Values) => ({
        name: span.name,
        kind: span.kind,
        status: span.status,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        attributes: attributesOf(span.attributes),
        events: (span.events as Values[]).map((event) => ({
          name: event.name,
          attributes: attributesOf(event.attributes),
        })),
        milliseconds: (Number(span.endTimeUnixNano) - Number(span.startTimeUnixNano)) / 1e6,
      })),
    ),
  );
}

function metricsIn(request: Record<string, unknown>): readonly DecodedMetric[] {
  const { resourceMetrics } = request as {
    resourceMetrics: readonly { scopeMetrics: readonly { metrics: Values[] }[] }[];
  };
  return resourceMetrics.flatMap(({ scopeMetrics }) =>
    scopeMetrics.flatMap(({ metrics: all }) =>
      all.map((metric: Values) => {
        const { dataPoints } = (metric.histogram ?? metric.sum) as { dataPoints: readonly Values[] };
        return {
          name: metric.name,
          unit: metric.unit,
          points: dataPoints.map((point) => ({
            attributes: attributesOf(point.attributes),
            sum: metric.histogram ? point.sum : point.asInt,
            ...(metric.histogram && {
              count: point.count,
              buckets: point.bucketCounts,
              bounds: point.explicitBounds,
            }),
          })),
        };
      }),
    ),
  );
}

function hex(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

/** The spans as a drawing: a line each, in the order of their beginning, with those below them indented. */
export function tree(
  spans: readonly Pick<DecodedSpan, 'name' | 'spanId' | 'parentSpanId'>[],
  parent = '',
  depth = 0,
): readonly string[] {
  const known = new Set(spans.map(({ spanId }) => spanId));
  const below = spans.filter(({ parentSpanId }) =>
    parent === '' ? !known.has(parentSpanId) : parentSpanId === parent,
  );
  return below.flatMap((span) => [
    `${'  '.repeat(depth)}${span.name}`,
    ...tree(spans, span.spanId, depth + 1),
  ]);
}
