import { readFileSync } from 'node:fs';
import { errorCodes } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/sdk';
import type { Config } from '../config/config.js';
import { UsageError } from '../flags/arguments.js';
import { textFlag } from '../flags/flags.js';
import type { Terminal } from '../terminal/terminal.js';

/** The flags that choose a runtime that runs already. */
export const serverFlags = {
  connect: textFlag('--connect', 'ADDRESS', 'use the runtime that listens there: 8080 or host:8080'),
  tokenFile: textFlag(
    '--token-file',
    'F',
    'the file with the token for --connect; default: GROUNDCREW_TOKEN',
  ),
};

/** A runtime that runs already. */
export interface ServerChoice {
  readonly url: string;
  readonly token?: string;
}

/** The runtime that flags and environment name; undefined when a command starts its own. Throws UsageError. */
export function serverOf(
  { connect, tokenFile }: { readonly connect?: string; readonly tokenFile?: string },
  { environment }: Pick<Terminal, 'environment'>,
): ServerChoice | undefined {
  if (connect === undefined) {
    if (tokenFile !== undefined) throw new UsageError('--token-file has no effect without --connect');
    return undefined;
  }
  const token =
    tokenFile === undefined
      ? environment.GROUNDCREW_TOKEN || environment.COPILOT_CONNECTION_TOKEN
      : tokenIn(tokenFile);
  return { url: connect, ...(token && { token }) };
}

function tokenIn(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`--token-file: ${error instanceof Error ? error.message : error}`);
  }
}

/** A server that does not know the token says so in one word; the user is told what to give. */
export function tokenFault(error: unknown, { url, token }: ServerChoice): unknown {
  if (!(error instanceof RpcError) || error.code !== errorCodes.authenticationFailed) return error;
  return new Error(
    token === undefined
      ? `The runtime at ${url} asks for a token: name it by --token-file, or GROUNDCREW_TOKEN`
      : `The runtime at ${url} does not know this token: --token-file or GROUNDCREW_TOKEN has to name that of the server`,
  );
}

/** What flags say that a server decides itself. */
interface RuntimeFlags {
  readonly model?: string;
  readonly sandbox?: unknown;
  readonly fileHooks?: true;
  readonly store?: string;
}

/** A server has its own model service; keys of this machine are not sent to it. Flags about runtimes are the server's too. */
export function withoutOwnService(
  config: Config,
  { model, sandbox, fileHooks, store }: RuntimeFlags,
): Config {
  if (sandbox || fileHooks || store !== undefined)
    throw new UsageError(
      '--sandbox, --file-hooks and --store are for the runtime: give them to groundcrew serve',
    );
  const { provider: _provider, model: _model, sandbox: _sandbox, ...rest } = config;
  return { ...rest, ...(model !== undefined && { model }) };
}
