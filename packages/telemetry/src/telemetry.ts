import type { Observer } from '@groundcrew/runtime';
import { ExportQueue } from './export-queue.js';
import type { Exporter } from './exporter.js';
import { fileExporter } from './file-exporter.js';
import { Meter } from './meter.js';
import { WatchedModels } from './model-watch.js';
import { OpenSpans } from './open-spans.js';
import { otlpExporter } from './otlp-exporter.js';
import { type Gauge, prometheusText } from './prometheus.js';
import { SessionWatch } from './session-watch.js';
import type { TelemetrySettings } from './settings.js';
import { Tracer } from './tracer.js';

/** What telemetry is given by the program. */
export interface TelemetryOptions {
  readonly settings: TelemetrySettings;
  /** Covers what is secret in a text. */
  mask(text: string): string;
  warn(message: string): void;
}

/** Telemetry of a runtime, at work. */
export interface Telemetry {
  /** Watches sessions. */
  readonly observer: Observer;
  /** Watches model calls. */
  readonly models: WatchedModels;
  /** What was measured so far, as Prometheus reads it, behind these values of the moment. */
  prometheus(gauges: Readonly<Record<string, Gauge>>): string;
  /** Ends what is open and exports what is left; takes two seconds at most. */
  close(): Promise<void>;
}

/** Opens what watches a runtime, and exports what it sees. */
export function openTelemetry({ settings, mask, warn }: TelemetryOptions): Telemetry {
  const meter = new Meter(mask);
  const exporter = exporterOf(settings);
  const queue = exporter && new ExportQueue({ exporter, meter, settings, warn });
  const tracer = new Tracer({ settings, mask, ended: (span) => queue?.add(span) });
  const open = new OpenSpans({ tracer, meter });
  const watch = new SessionWatch(open);
  return {
    observer: watch,
    models: new WatchedModels({ tracer, meter, watch }),
    prometheus: (gauges) => prometheusText(meter.read(), gauges),
    close: async () => {
      open.close();
      await queue?.close();
    },
  };
}

function exporterOf(settings: TelemetrySettings): Exporter | undefined {
  const { exporter } = settings;
  switch (exporter.type) {
    case 'file':
      return fileExporter(exporter.path, settings);
    case 'otlp':
      return otlpExporter(exporter, settings);
    case 'none':
      return undefined;
  }
}
