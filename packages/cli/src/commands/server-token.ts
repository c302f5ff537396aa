import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { UsageError } from '../flags/arguments.js';
import type { Terminal } from '../terminal/terminal.js';

/** What clients of a server on a port must show: from a file, the environment, or made for this once and printed. */
export function serverToken(
  file: string | undefined,
  { environment, errorOutput }: Pick<Terminal, 'environment' | 'errorOutput'>,
): string {
  const { GROUNDCREW_TOKEN, COPILOT_CONNECTION_TOKEN } = environment;
  if (file !== undefined) return tokenIn(file);
  const given = GROUNDCREW_TOKEN || COPILOT_CONNECTION_TOKEN;
  if (given) return given;
  const made = newToken();
  errorOutput.write(`Connection token: ${made}\n`);
  return made;
}

/** The same for a server over HTTP, whose clients show the token in a header. Throws UsageError. */
export function httpServerToken(
  file: string | undefined,
  terminal: Pick<Terminal, 'environment' | 'errorOutput'>,
): string {
  return headerToken(serverToken(file, terminal));
}

/** A token that a header can carry, from browsers too. Throws UsageError, in which the token is not. */
export function headerToken(token: string): string {
  if (/^[!-~]+$/.test(token)) return token;
  throw new UsageError(
    'The token is shown in a header of HTTP, which carries printable ASCII characters without spaces: choose such a token',
  );
}

/** Clients read the same file; no other user may. */
function tokenIn(file: string): string {
  try {
    const token = makeToken(file) ?? readFileSync(file, 'utf8').trim();
    if (token === '') throw new UsageError(`${file} is empty`);
    return token;
  } catch (error) {
    throw new UsageError(`--token-file: ${error instanceof Error ? error.message : error}`);
  }
}

/** A new token in a new file; undefined when the file is there already. */
function makeToken(file: string): string | undefined {
  const token = newToken();
  try {
    writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
    return token;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
    throw error;
  }
}

/** A token that cannot be guessed. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}
