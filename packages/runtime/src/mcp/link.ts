import { resolve } from 'node:path';
import type { Confinement } from '../exec/sandbox-confinement.js';
import type { ProgramHost, StartedProgram } from '../tools/shell/program.js';
import type { Challenge } from './client-auth.js';
import type { ServerHeaders } from './client-headers.js';
import type { InvalidConfig, McpServerConfig, RemoteConfig, StdioConfig } from './config.js';
import type { Abilities, ConnectionParts, McpConnection } from './connection.js';
import { reasonOf, reasonOfChild } from './failure-reasons.js';
import { guardedFetch } from './oauth/guarded-fetch.js';
import type { TokenBook } from './oauth/token-book.js';
import { SentSecrets } from './sent-secrets.js';
import { StdioTransport } from './stdio-transport.js';

/** What links of all servers of a session are made with. */
export interface LinkParts {
  abilities(): Abilities;
  /** Why a server may not be started; undefined when it may. */
  mayStart(serverName: string, config: McpServerConfig, signal: AbortSignal): Promise<string | undefined>;
  elicit(
    serverName: string,
    ...asked: Parameters<ConnectionParts['elicit']>
  ): ReturnType<ConnectionParts['elicit']>;
  sample(
    serverName: string,
    ...asked: Parameters<ConnectionParts['sample']>
  ): ReturnType<ConnectionParts['sample']>;
  readonly version: string;
  readonly programs: ProgramHost;
  /** On whose behalf children run. */
  readonly owner: object;
  /** Values of `env` may name other variables. */
  expandsVariables(): boolean;
  workingDirectory(): Promise<string>;
  /** What children may touch; undefined when they run as the user. Throws SandboxUnavailable. */
  confinement(): Promise<Confinement | undefined>;
}

/** What one link is made with. */
export interface OpenParts
  extends Omit<LinkParts, 'elicit' | 'sample' | 'abilities'>,
    Pick<ConnectionParts, 'roots' | 'isOld' | 'milliseconds' | 'elicit' | 'sample' | 'abilities'> {
  changed(what: 'tools' | 'prompts' | 'resources'): void;
  /** The token that some client brings for a server, or a log-in that it begins. */
  authorise(config: RemoteConfig, challenge: Challenge, signal: AbortSignal): Promise<string | undefined>;
  /** Headers that clients give for a server. */
  headers(config: RemoteConfig, signal: AbortSignal): ServerHeaders;
  /** Where log-ins are kept. */
  tokens(): TokenBook;
}

/** A server that has been greeted, and how it ends. */
export interface Link {
  readonly connection: McpConnection;
  /** Resolves with the reason when the connection ends, or is no longer wanted. */
  closed(signal: AbortSignal): Promise<string>;
  /** Resolves when nothing of it is left. */
  close(): Promise<void>;
  /** In words, why something that was asked of it failed. */
  reason(error: unknown): string;
  /** It failed for want of a log-in. */
  needsAuth(error: unknown): boolean;
  /** The server does not know the session any more, and has done nothing. */
  isSessionLost(error: unknown): boolean;
}

/** What came of an attempt; `isOld`: it ended when it was probed, and may live when greeted the old way. */
export type Opened =
  | { readonly link: Link }
  | { readonly failure: string; readonly needsAuth?: boolean }
  | { readonly isOld: true };

/** Reaches a server and greets it. Never rejects. The library is loaded when the first one is needed. */
export async function openLink(
  config: Exclude<McpServerConfig, InvalidConfig>,
  parts: OpenParts,
  signal: AbortSignal,
): Promise<Opened> {
  return config.type === 'stdio' ? openChild(config, parts, signal) : openRemote(config, parts, signal);
}

async function openChild(config: StdioConfig, parts: OpenParts, signal: AbortSignal): Promise<Opened> {
  const loading = import('./connection.js');
  const workingDirectory = resolve(await parts.workingDirectory(), config.cwd ?? '');
  let program: StartedProgram;
  try {
    program = await parts.programs.startProgram(
      {
        program: config.command,
        parameters: config.args,
        workingDirectory,
        environment: config.env,
        expandsVariables: parts.expandsVariables(),
        confinement: await parts.confinement(),
      },
      parts.owner,
    );
  } catch (error) {
    return { failure: reasonOf(error, Object.values(config.env)) };
  }
  const transport = new StdioTransport(program);
  const reason = (error: unknown) => reasonOfChild(transport, config, { error, workingDirectory });
  try {
    const { McpConnection } = await loading;
    const connection = await McpConnection.open(connectionParts(transport, parts), signal);
    return {
      link: linkOf(connection, {
        reason,
        close: () => transport.close(),
        needsAuth: () => false,
        isSessionLost: () => false,
      }),
    };
  } catch (error) {
    const diedProbed = !parts.isOld && transport.ending?.type === 'exited' && !transport.hasSpoken;
    await transport.close();
    return diedProbed && !signal.aborted ? { isOld: true } : { failure: reason(error) };
  }
}

async function openRemote(config: RemoteConfig, parts: OpenParts, signal: AbortSignal): Promise<Opened> {
  let fault = (): string | undefined => undefined;
  // Servers write into their errors what they were sent.
  const sent = new SentSecrets(Object.values(config.headers));
  const reason = (error: unknown) => fault() ?? reasonOf(error, sent.list);
  try {
    const { McpConnection } = await import('./connection.js');
    const { remoteTransport, isUnauthorized: needsAuth } = await import('./remote.js');
    const { keptToken, renewedToken } = await import('./oauth/refresh.js');
    const fetch = guardedFetch(config.url);
    const transport = remoteTransport(config, {
      kept: async () => sent.note(await keptToken(parts.tokens(), config.url, fetch)),
      renewed: async (refused) =>
        sent.note(await renewedToken(parts.tokens(), config.url, { refused, fetch })),
      headers: sent.noteHeaders(parts.headers(config, signal)),
      ask: async (challenge) => sent.note(await parts.authorise(config, challenge, signal)),
    });
    fault = () => transport.fault;
    const connection = await McpConnection.open(connectionParts(transport, parts), signal);
    const close = async () => {
      await transport.terminate();
      await connection.close();
    };
    return {
      link: linkOf(connection, {
        reason,
        close,
        needsAuth,
        isSessionLost: (error) => transport.isSessionLost(error),
      }),
    };
  } catch (error) {
    const { isUnauthorized } = await import('./remote.js');
    return { failure: reason(error), ...(isUnauthorized(error) && { needsAuth: true }) };
  }
}

function connectionParts(transport: ConnectionParts['transport'], parts: OpenParts): ConnectionParts {
  const { version, isOld, milliseconds, roots, changed, elicit, sample, abilities } = parts;
  return {
    transport,
    version,
    isOld,
    milliseconds,
    roots,
    elicit,
    sample,
    abilities,
    toolsChanged: () => changed('tools'),
    promptsChanged: () => changed('prompts'),
    resourcesChanged: () => changed('resources'),
  };
}

function linkOf(connection: McpConnection, how: Omit<Link, 'connection' | 'closed'>): Link {
  return {
    ...how,
    connection,
    closed: (signal) =>
      new Promise((done) => {
        const end = () => {
          signal.removeEventListener('abort', end);
          done(how.reason(new Error('the connection was closed')));
        };
        signal.addEventListener('abort', end, { once: true });
        if (signal.aborted) end();
        void connection.ended.then(end);
      }),
  };
}
