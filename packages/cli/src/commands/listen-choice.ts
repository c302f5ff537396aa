import { readFileSync, statSync } from 'node:fs';
import type { TlsIdentity } from '@groundcrew/rpc';
import { lastPort, UsageError, wholeNumber } from '../flags/arguments.js';
import { switchFlag, textFlag } from '../flags/flags.js';

/** The flags that say where clients come in, and how they are protected on their way. */
export const listenFlags = {
  listen: textFlag(
    '--listen',
    'HOST:PORT',
    'the address and the port; one that others reach needs --auth, and TLS or --behind-proxy',
  ),
  tlsCert: textFlag(
    '--tls-cert',
    'F',
    'speaks TLS by this certificate (PEM), read again when it has changed',
  ),
  tlsKey: textFlag('--tls-key', 'F', 'the key of the certificate (PEM); only its owner may read it'),
  behindProxy: switchFlag('--behind-proxy', 'a proxy in front ends TLS: --listen speaks none'),
  auth: textFlag(
    '--auth',
    'F',
    'tokens and tenants: each client shows one of these tokens, and sees the sessions of its tenant only',
  ),
  audit: textFlag(
    '--audit',
    'F',
    'with --auth: the file that records logins, denials, approvals and deletions; default: audit.jsonl of the home',
  ),
  tenantsShareFiles: switchFlag(
    '--tenants-share-files',
    'with --auth: tenants run without a sandbox, and can read the files of one another',
  ),
};

/** What was given of them, and of the flags that they go with. */
export interface ListenFlags {
  readonly listen?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly behindProxy?: true;
  readonly auth?: string;
  readonly audit?: string;
  readonly tenantsShareFiles?: true;
  readonly host?: string;
  readonly port?: number;
  readonly httpHost?: string;
  readonly tokenFile?: string;
}

/** Where clients come in. */
export interface ListenChoice {
  readonly host?: string;
  readonly port: number;
}

/** Reads where to listen, and refuses what would let strangers read or try. Throws UsageError. */
export function chooseListen(wishes: ListenFlags): ListenChoice {
  const { listen, auth, behindProxy, tlsCert, tlsKey } = wishes;
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw new UsageError('--tls-cert and --tls-key need one another');
  if (auth === undefined && (wishes.audit ?? wishes.tenantsShareFiles) !== undefined)
    throw new UsageError('--audit and --tenants-share-files need --auth');
  if (auth !== undefined && wishes.tokenFile !== undefined)
    throw new UsageError('--auth has the tokens of all clients: --token-file has no place beside it');
  if (listen === undefined) {
    if (behindProxy) throw new UsageError('--behind-proxy needs --listen');
    return { port: wishes.port ?? 0, ...(wishes.host !== undefined && { host: wishes.host }) };
  }
  if ((wishes.host ?? wishes.port) !== undefined)
    throw new UsageError('--listen names host and port: --host and --port have no place beside it');
  const where = readAddress(listen);
  const reached = [where.host, wishes.httpHost ?? where.host].find((host) => !isLoopback(host));
  if (reached === undefined) return where;
  if (auth === undefined)
    throw new UsageError(
      `--listen: others reach ${reached}, so clients have to show who they are: --auth FILE`,
    );
  if (tlsCert === undefined && !behindProxy)
    throw new UsageError(
      `--listen: others reach ${reached}, so it needs TLS: --tls-cert and --tls-key, or --behind-proxy where a proxy ends it`,
    );
  return where;
}

/** Whether only this machine reaches an address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** `host:port`, with brackets around an address of IPv6. */
function readAddress(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d+)$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || port === undefined)
    throw new UsageError(`--listen: expected host:port, such as 0.0.0.0:4321, not ${text}`);
  return { host, port: wholeNumber(port, '--listen', lastPort) };
}

/** The certificate in the files, and the listeners that get each new one. */
export class TlsFiles {
  private readonly listeners: ((identity: TlsIdentity) => void)[] = [];
  private known: TlsIdentity;
  private stamp: string;

  constructor(
    private readonly files: { readonly cert: string; readonly key: string },
    private readonly warn: (message: string) => void,
  ) {
    this.stamp = this.stampNow();
    this.known = this.read();
    setInterval(() => this.look(), lookEveryMs).unref();
  }

  get identity(): TlsIdentity {
    return this.known;
  }

  onRenewal(listener: (identity: TlsIdentity) => void): void {
    this.listeners.push(listener);
  }

  private look(): void {
    try {
      const stamp = this.stampNow();
      if (stamp === this.stamp) return;
      this.stamp = stamp;
      this.known = this.read();
      for (const listener of this.listeners) listener(this.known);
    } catch (error) {
      this.warn(`The certificate was not renewed: ${(error as Error).message}`);
    }
  }

  private read(): TlsIdentity {
    const { cert, key } = this.files;
    const { mode } = statSync(key);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw new UsageError(`--tls-key: ${key} may be read by others than its owner: chmod 600 ${key}`);
    return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
  }

  private stampNow(): string {
    return Object.values(this.files)
      .map((file) => {
        const { ino, size, mtimeMs } = statSync(file);
        return `${ino} ${size} ${mtimeMs}`;
      })
      .join(' ');
  }
}

const lookEveryMs = 10_000;

/** The certificate that the flags name, if they do. Throws UsageError. */
export function tlsFrom(
  { tlsCert, tlsKey }: ListenFlags,
  warn: (message: string) => void,
): TlsFiles | undefined {
  if (tlsCert === undefined || tlsKey === undefined) return undefined;
  try {
    return new TlsFiles({ cert: tlsCert, key: tlsKey }, warn);
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`--tls-cert: ${(error as Error).message}`);
  }
}
