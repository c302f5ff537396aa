import type { Environment } from '@groundcrew/models';

/** Whether the environment asks for telemetry; the names of other runtimes' variables count, too. */
export function asksForTelemetry(environment: Environment): boolean {
  if (isTrue(environment.OTEL_SDK_DISABLED)) return false;
  return (
    isTrue(environment.COPILOT_OTEL_ENABLED) ||
    Boolean(environment.COPILOT_OTEL_FILE_EXPORTER_PATH) ||
    Boolean(environment.OTEL_EXPORTER_OTLP_ENDPOINT) ||
    Boolean(environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) ||
    Boolean(environment.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)
  );
}

/** What a variable says that switches something on. */
export function isTrue(text: string | undefined): boolean {
  return /^(?:true|1|yes|on)$/i.test(text?.trim() ?? '');
}
