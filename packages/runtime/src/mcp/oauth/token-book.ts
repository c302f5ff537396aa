import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWholeFile } from '@groundcrew/store';
import type { OAuthDiscoveryState, OAuthTokens } from '@modelcontextprotocol/client';

/** Tokens, with the moment at which the access token ends, in milliseconds since 1970. */
export type KeptTokens = OAuthTokens & { readonly issuer?: string; readonly expiresAt?: number };

/** The program as an authorisation server knows it, and the address that it was registered with. */
export interface KeptClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly issuer?: string;
  readonly redirectPort?: number;
  /** The same where the app around the program receives the browser. */
  readonly redirectUri?: string;
  /** It gets tokens in its own name, without a user. */
  readonly isMachine?: boolean;
}

/** All that is kept of the log-in at one server. */
export interface Credentials {
  readonly serverUrl: string;
  readonly tokens?: KeptTokens;
  readonly client?: KeptClient;
  readonly discovery?: OAuthDiscoveryState;
}

/** Where log-ins at servers are kept. */
export interface TokenBook {
  read(serverUrl: string): Credentials | undefined;
  write(credentials: Credentials): void;
  remove(serverUrl: string): void;
  /** Does the work while no one else renews tokens of this server, in this process or another. */
  alone<T>(serverUrl: string, work: () => Promise<T>): Promise<T>;
}

/** With the moment at which the token ends. */
export function withEnding<T extends { readonly expires_in?: number | undefined }>(
  tokens: T,
): T & { readonly expiresAt?: number } {
  const { expires_in: seconds } = tokens;
  return seconds === undefined ? tokens : { ...tokens, expiresAt: Date.now() + seconds * 1000 };
}

/** The resource that tokens are asked for, by its own name for itself: they serve nowhere else. */
export function resourceOf({ resourceMetadata }: OAuthDiscoveryState): { readonly resource?: string } {
  return resourceMetadata ? { resource: resourceMetadata.resource } : {};
}

/** Kept as long as the session is in memory, and nowhere else. */
export function memoryTokens(): TokenBook {
  const kept = new Map<string, Credentials>();
  let last: Promise<unknown> = Promise.resolve();
  return {
    read: (serverUrl) => kept.get(serverUrl),
    write: (credentials) => void kept.set(credentials.serverUrl, credentials),
    remove: (serverUrl) => void kept.delete(serverUrl),
    alone: (_serverUrl, work) => {
      const next = last.then(work, work);
      last = next.catch(() => undefined);
      return next;
    },
  };
}

/** Kept in the home, a file for each server, for the owner alone. A server is known by its whole address: no other gets its tokens. */
export function fileTokens(homeDirectory: string): TokenBook {
  const directory = join(homeDirectory, 'mcp-tokens');
  const pathOf = (serverUrl: string) =>
    join(directory, `${createHash('sha256').update(serverUrl).digest('hex').slice(0, 32)}.json`);
  const make = () => {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
  };
  return {
    read: (serverUrl) => readCredentials(pathOf(serverUrl), serverUrl),
    write: (credentials) => {
      make();
      writeWholeFile(pathOf(credentials.serverUrl), `${JSON.stringify(credentials)}\n`);
    },
    remove: (serverUrl) => rmSync(pathOf(serverUrl), { force: true }),
    alone: async (serverUrl, work) => {
      make();
      const lock = `${pathOf(serverUrl)}.lock`;
      await take(lock);
      try {
        return await work();
      } finally {
        rmSync(lock, { force: true });
      }
    },
  };
}

function readCredentials(path: string, serverUrl: string): Credentials | undefined {
  try {
    const value = JSON.parse(readFileSync(path, 'utf8')) as Credentials;
    return value?.serverUrl === serverUrl ? value : undefined;
  } catch {
    // None yet, or one that cannot be read: the user logs in again, and it is replaced.
    return undefined;
  }
}

/** Longer than any request to an authorisation server may take: a lock so old was left by a process that was killed. */
const staleMilliseconds = 40_000;
const pollMilliseconds = 50;

async function take(lock: string): Promise<void> {
  for (const since = Date.now(); ; await new Promise((done) => setTimeout(done, pollMilliseconds))) {
    try {
      writeFileSync(lock, String(process.pid), { mode: 0o600, flag: 'wx' });
      return;
    } catch (error) {
      if (!(error instanceof Error) || !('code' in error) || error.code !== 'EEXIST') throw error;
    }
    if (ageOf(lock) > staleMilliseconds || Date.now() - since > staleMilliseconds)
      rmSync(lock, { force: true });
  }
}

function ageOf(path: string): number {
  return Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}
