export type { OtlpTarget, TelemetrySettings } from './settings.js';
export { openTelemetry, type Telemetry } from './telemetry.js';
