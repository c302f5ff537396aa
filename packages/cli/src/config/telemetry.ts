import type { Environment } from '@groundcrew/models';
import type { ModelAccess, SessionSettings } from '@groundcrew/runtime';
import type { Telemetry } from '@groundcrew/telemetry';
import { asksForTelemetry } from './telemetry-enabled.js';

/** Telemetry as the program uses it. */
export interface ProgramTelemetry extends Omit<Telemetry, 'models'> {
  /** Watches the model calls of a session; its keys never go out. */
  watch(access: ModelAccess, settings: SessionSettings): ModelAccess;
  /** Values that never go out. */
  cover(values: readonly string[]): void;
  /** What of the environment's wishes has no effect, for clients to read. */
  readonly warnings: readonly string[];
}

interface TelemetryParts {
  readonly environment: Environment;
  readonly version: string;
  warn(message: string): void;
  /** What is measured is asked for by other means than the environment. */
  readonly isWanted?: boolean;
  readonly secrets?: readonly (string | undefined)[];
}

/** Opens telemetry if the environment asks for it; nothing of it is loaded otherwise. */
export async function telemetryFor(parts: TelemetryParts): Promise<ProgramTelemetry | undefined> {
  const { environment, version, warn, isWanted = false, secrets = [] } = parts;
  const isAsked = asksForTelemetry(environment);
  if (!isAsked && !isWanted) return undefined;
  const [{ openTelemetry }, { telemetrySettings }, { redactorFor }] = await Promise.all([
    import('@groundcrew/telemetry'),
    import('./telemetry-settings.js'),
    import('../log/redact.js'),
  ]);
  const { settings, warnings } = telemetrySettings(environment, version);
  if (isAsked) for (const warning of warnings) warn(warning);
  const redactor = redactorFor(environment, ...secrets);
  const { exporter } = settings;
  if (exporter.type === 'otlp')
    for (const target of [exporter.traces, exporter.metrics])
      redactor.register(...Object.values(target?.headers ?? {}));
  const telemetry = openTelemetry({
    settings: isAsked ? settings : { ...settings, exporter: { type: 'none' } },
    mask: (text) => redactor.text(text),
    warn,
  });
  return {
    ...telemetry,
    warnings: isAsked ? warnings : [],
    cover: (values) => redactor.register(...values),
    watch: (access, session) => {
      redactor.register(...secretsOf(session));
      const { baseUrl = access.copilot?.baseUrl, type } = session.provider ?? {};
      return telemetry.models.of(access, { baseUrl, type });
    },
  };
}

function secretsOf({
  provider,
  providers = [],
  gitHubToken,
}: SessionSettings): readonly (string | undefined)[] {
  const all = [...(provider ? [provider] : []), ...providers];
  return [
    gitHubToken,
    ...all.flatMap(({ apiKey, bearerToken, headers = {} }) => [
      apiKey,
      bearerToken,
      ...Object.values(headers),
    ]),
  ].filter((value) => typeof value === 'string');
}
