import { existsSync } from 'node:fs';
import type { ExitStatus } from '../exec/executor.js';
import { CannotConfine } from '../exec/sandbox-confinement.js';
import { SandboxUnavailable } from '../exec/sandbox-settings.js';
import type { StdioConfig } from './config.js';
import { plainText, withoutSecrets } from './plain-text.js';
import type { StdioTransport } from './stdio-transport.js';

const longestReason = 1000;

/** In words, why a child that was to be a server is none. */
export function reasonOfChild(
  transport: StdioTransport,
  config: StdioConfig,
  { error, workingDirectory }: { readonly error?: unknown; readonly workingDirectory: string },
): string {
  const { fault, ending, strayLine = '' } = transport;
  const secrets = Object.values(config.env);
  // Each part by itself: it may begin or end in the middle of a secret.
  const errors = lastLines(withoutSecrets(transport.lastErrors, secrets));
  const line = JSON.stringify(withoutSecrets(strayLine, secrets));
  const said = errors === '' ? '' : `; it wrote: ${errors}`;
  const stray = strayLine === '' ? '' : `; it wrote what is no message: ${line}`;
  const reason =
    fault?.replace(JSON.stringify(strayLine), () => line) ??
    (ending ? endingText(ending, config, workingDirectory) : reasonOf(error));
  return cleaned(`${reason}${said}${fault ? '' : stray}`, secrets);
}

function endingText(ending: ExitStatus, { command }: StdioConfig, workingDirectory: string): string {
  if (ending.type === 'failed') {
    if (codeOf(ending.error) !== 'ENOENT') return `its command could not be run: ${ending.error.message}`;
    return existsSync(workingDirectory)
      ? `command not found: ${command}`
      : `its working directory does not exist: ${workingDirectory}`;
  }
  return ending.signal === undefined
    ? `it exited with code ${ending.exitCode}`
    : `it was ended by ${ending.signal}`;
}

/** In words, why a server cannot be reached. */
export function reasonOf(error: unknown, secrets: readonly string[] = []): string {
  if (error instanceof SandboxUnavailable || error instanceof CannotConfine)
    return `it was not started, because its sandbox does not work: ${error.message}`;
  return cleaned(plainReason(error), secrets);
}

function plainReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = codeOf(error);
  if (code === 'REQUEST_TIMEOUT') return `time-out: ${error.message}`;
  if ('requiredScope' in error) return shortOfRights(error);
  const { status } = error as { readonly status?: unknown };
  if (typeof status === 'number') return `HTTP ${status}: ${statusWords[status] ?? error.message}`;
  const cause = rootCause(error);
  const causeCode = codeOf(cause) ?? '';
  const words = networkWords.find(([pattern]) => pattern.test(causeCode))?.[1];
  if (words !== undefined) return `${words} (${causeCode})`;
  if (error.name === 'ZodError' || error.name === 'SyntaxError') return `bad JSON: ${error.message}`;
  return cause === error ? error.message : `${error.message}: ${cause.message}`;
}

function shortOfRights(error: { readonly requiredScope?: unknown }): string {
  const { requiredScope: scope } = error;
  const which = typeof scope === 'string' && scope !== '' ? `: ${scope.slice(0, 200)}` : '';
  return `HTTP 403: it wants a log-in with more rights${which}`;
}

const statusWords: Readonly<Record<number, string>> = {
  401: 'it wants authorisation, and got none that it takes',
  403: 'it denies access',
  404: 'there is nothing at its url',
};

const networkWords: readonly (readonly [RegExp, string])[] = [
  [/^ECONNREFUSED$/, 'nothing listens at its address'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'its host is not known'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/, 'it broke the connection'],
  [/^(ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/, 'time-out: it does not answer'],
  [
    /^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|ERR_SSL)/,
    'TLS: its certificate or its encryption is not accepted',
  ],
];

function rootCause(error: Error): Error {
  let cause = error;
  for (let depth = 0; cause.cause instanceof Error && depth < 5; depth++) cause = cause.cause;
  if (cause instanceof AggregateError && cause.errors[0] instanceof Error) return cause.errors[0];
  return cause;
}

function codeOf(error: Error): string | undefined {
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

function lastLines(text: string): string {
  return text.split('\n').slice(-keptLines).join('\n').slice(-longestErrors);
}

const keptLines = 5;
const longestErrors = 600;

function cleaned(text: string, secrets: readonly string[]): string {
  return plainText(withoutSecrets(text, secrets), longestReason);
}
