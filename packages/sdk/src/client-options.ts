import type { RuntimeConnection } from './connection-options.js';
import { GroundcrewError } from './errors.js';
import type { HandlerFailure } from './handler-failure.js';
import type { ModelRequestHandler } from './model-requests.js';
import type { SessionFsOptions } from './session-files.js';
import type { TelemetryOptions } from './telemetry.js';
import type { TraceContext } from './trace.js';

/** How a client finds, starts and watches its runtime. */
export interface ClientOptions {
  /** How to reach the runtime; a process on stdio by default. */
  readonly connection?: RuntimeConnection;
  /** The directory the runtime starts in, and where its sessions work unless they name another. */
  readonly workingDirectory?: string;
  /** Where the runtime keeps sessions and settings; `~/.groundcrew` by default. */
  readonly baseDirectory?: string;
  /** The environment of the runtime, instead of this process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** How much the runtime says on stderr. */
  readonly logLevel?: 'none' | 'error' | 'warning' | 'info' | 'debug' | 'all';
  /** The GitHub token that sessions use unless they bring their own. */
  readonly gitHubToken?: string;
  /** Whether the runtime may look for a token by itself; true unless `gitHubToken` is given. */
  readonly useLoggedInUser?: boolean;
  /** Sessions idle for so long are unloaded, never lost; 0, the default, means never. */
  readonly sessionIdleTimeoutSeconds?: number;
  /**
   * Makes the runtime's model calls in its place, those of all its sessions. One client of a runtime may, while it is
   * connected.
   */
  readonly onModelRequest?: ModelRequestHandler;
  /** Stores the files of this client's sessions in the runtime's place; their logs stay with the runtime. */
  readonly sessionFs?: SessionFsOptions;
  /** Traces and metrics of a runtime that this client starts, for OpenTelemetry; off unless given. */
  readonly telemetry?: TelemetryOptions;
  /** The trace the app is in: asked before create, resume and send, sent to the runtime, and by it to tools. */
  readonly getTraceContext?: () => TraceContext | Promise<TraceContext>;
  /**
   * How many milliseconds a lost runtime is tried again: one that this client did not start, reached by `forUri` or
   * `forChannel`. 60,000 unless given; 0 means not at all.
   */
  readonly reconnectTimeout?: number;
  /** Called when the connection is lost, and once more when the client gives up to reach the runtime again. */
  readonly onConnectionLost?: (lost: ConnectionLost) => void;
  /** Called when the runtime is reached again and its sessions are open there, with all that was missed. */
  readonly onReconnected?: (reconnected: Reconnected) => void;
  /**
   * Called with each error that a handler of the app threw: nothing else stops because of it.
   * Without it, a failure is a process warning.
   */
  readonly onHandlerError?: (failure: HandlerFailure) => void;
  /** Called for each option that does not exist, or has no effect; without it, that is a process warning. */
  readonly onWarning?: (message: string) => void;
}

/** That the connection to the runtime is gone. */
export interface ConnectionLost {
  readonly error: GroundcrewError;
  /** Whether the client tries to reach the runtime again; if not, its sessions have ended. */
  readonly willReconnect: boolean;
}

/** That the runtime is there again. */
export interface Reconnected {
  /** The sessions that go on. */
  readonly sessionIds: readonly string[];
  /** The sessions that could not be opened again, and have ended. */
  readonly failed: readonly { readonly sessionId: string; readonly error: Error }[];
}

/** How long a lost runtime is tried again, in milliseconds; 0 for one that went with its connection. */
export function reconnectTimeout({ connection, reconnectTimeout: given }: ClientOptions): number {
  return connection && canReturn(connection) ? (given ?? 60_000) : 0;
}

/** Throws for a time that has no effect, or is none. */
export function checkReconnectTimeout({ connection, reconnectTimeout: given }: ClientOptions): void {
  if (given === undefined) return;
  if (!(given >= 0) || given > longestTimeout)
    throw invalid(`reconnectTimeout must be 0 to ${longestTimeout} milliseconds, not ${given}`);
  if (!connection || !canReturn(connection))
    throw invalid(
      `reconnectTimeout has no effect on a runtime that this client starts (${connection?.kind ?? 'stdio'}): leave it out, or connect by forUri or forChannel`,
    );
}

const longestTimeout = 2 ** 31 - 1;

function canReturn({ kind }: RuntimeConnection): boolean {
  return kind === 'uri' || kind === 'channel';
}

function invalid(message: string): GroundcrewError {
  return new GroundcrewError('invalid_option', message);
}
