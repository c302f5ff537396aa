import type { Config } from './config.js';
import type { Environment } from './home.js';
import { type Log, openLog } from './log.js';
import { Redactor } from './redact.js';
import type { Terminal } from './terminal.js';

/** What the program knows to be secret from the start. */
export function redactorFor(environment: Environment, ...others: readonly (string | undefined)[]): Redactor {
  const named = Object.entries(environment).filter(([name]) => secretName.test(name));
  return new Redactor(...named.map(([, value]) => value), ...others);
}

/** The log of a command that people start: warnings on stderr, more of it in the file of `GROUNDCREW_LOG`. */
export function openCommandLog(config: Config, terminal: Terminal): { log: Log; redactor: Redactor } {
  const { environment, errorOutput, version } = terminal;
  const { apiKey, bearerToken, headers } = config.provider?.config ?? {};
  const redactor = redactorFor(environment, apiKey, bearerToken, ...Object.values(headers ?? {}));
  const path = environment.GROUNDCREW_LOG;
  const log = openLog({
    redactor,
    stderr: { level: config.logLevel ?? 'warning', write: (line) => errorOutput.write(line) },
    ...(path && { file: { path, level: config.logLevel ?? 'info' } }),
  });
  log.write('info', 'started', { version, node: process.version, home: config.homeDirectory });
  for (const warning of config.warnings) log.write('warning', warning);
  return { log, redactor };
}

const secretName = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)$/;
