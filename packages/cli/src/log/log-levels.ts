/** From silence to everything. */
export const logLevels = ['none', 'error', 'warning', 'info', 'debug', 'all'] as const;

export type LogLevel = (typeof logLevels)[number];

/** The level of that name, if there is one. */
export function logLevel(name: string | undefined): LogLevel | undefined {
  return logLevels.find((level) => level === name);
}
