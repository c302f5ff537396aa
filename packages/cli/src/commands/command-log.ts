import type { Config } from '../config/config.js';
import { type Log, openLog } from '../log/log.js';
import { type Redactor, redactorFor } from '../log/redact.js';
import type { Terminal } from '../terminal/terminal.js';

/** Diagnostics, and what keeps secrets out of them. */
export interface CommandLog {
  readonly log: Log;
  readonly redactor: Redactor;
}

/** The log of a command that users start: warnings on stderr, more of it in the file of `GROUNDCREW_LOG`. */
export function openCommandLog(
  config: Config,
  terminal: Pick<Terminal, 'environment' | 'errorOutput' | 'version'>,
): CommandLog {
  const { environment, errorOutput, version } = terminal;
  const { apiKey, bearerToken, headers } = config.provider?.config ?? {};
  const redactor = redactorFor(environment, apiKey, bearerToken, ...Object.values(headers ?? {}));
  const path = environment.GROUNDCREW_LOG;
  const log = openLog({
    redactor,
    stderr: { level: config.logLevel ?? 'warning', write: (line) => errorOutput.write(line) },
    complain: (message) => errorOutput.write(`warning: ${message}\n`),
    ...(path && { file: { path, level: config.logLevel ?? 'info' } }),
  });
  log.write('info', 'started', { version, node: process.version, home: config.homeDirectory });
  for (const warning of config.warnings) log.write('warning', warning);
  return { log, redactor };
}
