/** Traces and metrics of the runtime, for OpenTelemetry. Content stays inside unless `captureContent` says otherwise. */
export interface TelemetryOptions {
  /** Where a collector takes OTLP over HTTP; `http://localhost:4318` unless given. */
  readonly otlpEndpoint?: string;
  /** How it is written; `http/json` unless given. */
  readonly otlpProtocol?: 'http/json' | 'http/protobuf';
  /** A file that gets a line of JSON for each span and each metric, in place of a collector. */
  readonly filePath?: string;
  /** `file` where `filePath` is given, else `otlp-http`. */
  readonly exporterType?: 'otlp-http' | 'file';
  /** The name of the instrumentation scope. */
  readonly sourceName?: string;
  /** Prompts, answers, arguments and results of tools are exported, too. */
  readonly captureContent?: boolean;
}

/** The environment variables that pass it to a runtime. */
export function telemetryVariables(
  telemetry: TelemetryOptions | undefined,
): Readonly<Record<string, string>> {
  if (!telemetry) return {};
  const { captureContent } = telemetry;
  const variables = {
    COPILOT_OTEL_ENABLED: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: telemetry.otlpEndpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: telemetry.otlpProtocol,
    COPILOT_OTEL_FILE_EXPORTER_PATH: telemetry.filePath,
    COPILOT_OTEL_EXPORTER_TYPE: telemetry.exporterType,
    COPILOT_OTEL_SOURCE_NAME: telemetry.sourceName,
    OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT:
      captureContent === undefined ? undefined : String(captureContent),
  };
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
