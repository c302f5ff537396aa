import type { Environment } from '@groundcrew/models';
import type { OtlpTarget, TelemetrySettings } from '@groundcrew/telemetry';
import { isTrue } from './telemetry-enabled.js';

/** What the environment asks for, and what of it cannot be had. */
export interface ReadTelemetrySettings {
  readonly settings: TelemetrySettings;
  readonly warnings: readonly string[];
}

/** How telemetry is made, by the variables that OpenTelemetry and its users know. */
export function telemetrySettings(environment: Environment, version: string): ReadTelemetrySettings {
  const reader = new Reader(environment);
  const content = environment.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT;
  const settings: TelemetrySettings = {
    sourceName: environment.COPILOT_OTEL_SOURCE_NAME || 'groundcrew',
    version,
    resource: {
      'service.version': version,
      ...reader.pairs('OTEL_RESOURCE_ATTRIBUTES'),
      ...serviceName(reader),
    },
    capturesContent: isTrue(content) || /^span/i.test(content ?? ''),
    sampling: samplingOf(reader),
    mostText: reader.number('OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT', 1024 * 1024),
    exporter: exporterOf(reader),
    batch: {
      delayMs: reader.number('OTEL_BSP_SCHEDULE_DELAY', 1_000),
      mostQueued: Math.max(1, reader.number('OTEL_BSP_MAX_QUEUE_SIZE', 2048)),
      mostAtOnce: Math.max(1, reader.number('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512)),
    },
    metricsIntervalMs: Math.max(100, reader.number('OTEL_METRIC_EXPORT_INTERVAL', 60_000)),
  };
  reader.warnOfUnread();
  return { settings, warnings: reader.warnings };
}

/** Every variable of OpenTelemetry that has an effect; those of one signal by their general name. */
const known: ReadonlySet<string> = new Set([
  'OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT',
  'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
  'OTEL_BSP_MAX_QUEUE_SIZE',
  'OTEL_BSP_SCHEDULE_DELAY',
  'OTEL_EXPORTER_OTLP_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
  'OTEL_EXPORTER_OTLP_CLIENT_KEY',
  'OTEL_EXPORTER_OTLP_COMPRESSION',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT',
  'OTEL_METRICS_EXPORTER',
  'OTEL_METRIC_EXPORT_INTERVAL',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_SDK_DISABLED',
  'OTEL_SERVICE_NAME',
  'OTEL_TRACES_EXPORTER',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
]);

/** Values that ask for what happens anyway. */
const usual: Readonly<Record<string, RegExp>> = {
  OTEL_LOGS_EXPORTER: /^none$/,
  OTEL_PROPAGATORS: /^(?:tracecontext|baggage)(?:\s*,\s*(?:tracecontext|baggage))*$/,
  OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: /^cumulative$/i,
};

function serviceName(reader: Reader): Readonly<Record<string, string>> {
  const named =
    reader.environment.OTEL_SERVICE_NAME || reader.pairs('OTEL_RESOURCE_ATTRIBUTES')['service.name'];
  return { 'service.name': named ?? 'groundcrew' };
}

function exporterOf(reader: Reader): TelemetrySettings['exporter'] {
  const { COPILOT_OTEL_FILE_EXPORTER_PATH: path, COPILOT_OTEL_EXPORTER_TYPE: type } = reader.environment;
  const chosen = type || (path ? 'file' : 'otlp-http');
  if (chosen === 'file') {
    if (path) return { type: 'file', path };
    reader.warn(
      'COPILOT_OTEL_EXPORTER_TYPE is file, and COPILOT_OTEL_FILE_EXPORTER_PATH names none: nothing is exported.',
    );
    return { type: 'none' };
  }
  if (chosen === 'none') return { type: 'none' };
  if (chosen !== 'otlp-http')
    reader.warn(
      `COPILOT_OTEL_EXPORTER_TYPE '${chosen}' is not known: it is otlp-http or file. It goes to otlp-http.`,
    );
  const traces = targetOf('TRACES', '/v1/traces', reader);
  const metrics = targetOf('METRICS', '/v1/metrics', reader);
  return { type: 'otlp', ...(traces && { traces }), ...(metrics && { metrics }) };
}

function targetOf(signal: 'TRACES' | 'METRICS', path: string, reader: Reader): OtlpTarget | undefined {
  const { environment } = reader;
  const named = environment[`OTEL_${signal}_EXPORTER`];
  if (named === 'none') return undefined;
  if (named && named !== 'otlp')
    reader.warn(`OTEL_${signal}_EXPORTER '${named}' is not known: it is otlp or none.`);
  const own = (name: string) =>
    environment[`OTEL_EXPORTER_OTLP_${signal}_${name}`] || environment[`OTEL_EXPORTER_OTLP_${name}`];
  const base = environment.OTEL_EXPORTER_OTLP_ENDPOINT || 'http://localhost:4318';
  const url = environment[`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`] || `${base.replace(/\/+$/, '')}${path}`;
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    reader.warn(
      `The OTLP endpoint of ${signal.toLowerCase()} is no address of http or https: they are not exported.`,
    );
    return undefined;
  }
  const protocol = own('PROTOCOL') || 'http/json';
  if (protocol !== 'http/json' && protocol !== 'http/protobuf')
    reader.warn(
      `OTEL_EXPORTER_OTLP_PROTOCOL '${protocol}' is not served: it is http/json or http/protobuf. It goes as http/json.`,
    );
  const compression = own('COMPRESSION') || 'none';
  if (compression !== 'none' && compression !== 'gzip')
    reader.warn(`OTEL_EXPORTER_OTLP_COMPRESSION '${compression}' is not served: it is gzip or none.`);
  const files = {
    certificate: own('CERTIFICATE'),
    clientCertificate: own('CLIENT_CERTIFICATE'),
    clientKey: own('CLIENT_KEY'),
  };
  const given = Object.fromEntries(Object.entries(files).filter(([, file]) => file));
  if (Object.keys(given).length > 0 && !url.startsWith('https:')) {
    reader.warn(
      `Certificates are set, and the OTLP endpoint of ${signal.toLowerCase()} is not https: they are not exported.`,
    );
    return undefined;
  }
  return {
    url,
    headers: {
      ...reader.pairs('OTEL_EXPORTER_OTLP_HEADERS'),
      ...reader.pairs(`OTEL_EXPORTER_OTLP_${signal}_HEADERS`),
    },
    isProtobuf: protocol === 'http/protobuf',
    isCompressed: compression === 'gzip',
    timeoutMs: Math.max(
      1,
      reader.number(
        `OTEL_EXPORTER_OTLP_${signal}_TIMEOUT`,
        reader.number('OTEL_EXPORTER_OTLP_TIMEOUT', 10_000),
      ),
    ),
    ...given,
  };
}

const samplers: Readonly<Record<string, { readonly followsParent: boolean; readonly ratio?: number }>> = {
  always_on: { followsParent: false, ratio: 1 },
  always_off: { followsParent: false, ratio: 0 },
  traceidratio: { followsParent: false },
  parentbased_always_on: { followsParent: true, ratio: 1 },
  parentbased_always_off: { followsParent: true, ratio: 0 },
  parentbased_traceidratio: { followsParent: true },
};

function samplingOf(reader: Reader): TelemetrySettings['sampling'] {
  const { OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: given } = reader.environment;
  const sampler = samplers[name || 'parentbased_always_on'];
  if (!sampler) reader.warn(`OTEL_TRACES_SAMPLER '${name}' is not known: every trace is kept.`);
  const { followsParent, ratio } = sampler ?? { followsParent: true, ratio: 1 };
  if (ratio !== undefined) return { followsParent, ratio };
  const share = Number(given || 1);
  if (share >= 0 && share <= 1) return { followsParent, ratio: share };
  reader.warn('OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1: every trace is kept.');
  return { followsParent, ratio: 1 };
}

/** Reads variables, and notes what in them has no effect. */
class Reader {
  private readonly noted = new Set<string>();

  constructor(readonly environment: Environment) {}

  get warnings(): readonly string[] {
    return [...this.noted];
  }

  warn(message: string): void {
    this.noted.add(message);
  }

  /** Nothing that is set is without effect in silence. */
  warnOfUnread(): void {
    for (const [name, value] of Object.entries(this.environment)) {
      if (!name.startsWith('OTEL_') || !value || usual[name]?.test(value.trim())) continue;
      const general = name.replace(/^OTEL_EXPORTER_OTLP_(?:TRACES|METRICS)_/, 'OTEL_EXPORTER_OTLP_');
      if (!known.has(general)) this.warn(`${name} has no effect: this version does not know it.`);
    }
  }

  number(name: string, otherwise: number): number {
    const text = this.environment[name];
    if (!text) return otherwise;
    // A timer takes no more: it would fire at once.
    if (/^\d{1,15}$/.test(text.trim())) return Math.min(Number(text), 2 ** 31 - 1);
    this.warn(`${name} is no whole number: it is ${otherwise}.`);
    return otherwise;
  }

  /** `a=b,c=d`, with percent signs for what would be misread. What is no pair is not shown: it may be secret. */
  pairs(name: string): Readonly<Record<string, string>> {
    const parts = (this.environment[name] ?? '').split(',').filter((part) => part.trim() !== '');
    return Object.fromEntries(
      parts.flatMap((part) => {
        const at = part.indexOf('=');
        if (at > 0) return [[part.slice(0, at).trim(), decoded(part.slice(at + 1).trim())]];
        this.warn(`${name} has a part that is no name=value: it is left out.`);
        return [];
      }),
    );
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
