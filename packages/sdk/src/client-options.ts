import type { RuntimeConnection } from './connection-options.js';
import type { ModelRequestHandler } from './model-requests.js';
import type { HandlerFailure } from './report.js';
import type { TraceContext } from './trace.js';

/** How a client finds, starts and watches its runtime. */
export interface ClientOptions {
  /** How to reach the runtime; a process on stdio unless told otherwise. */
  readonly connection?: RuntimeConnection;
  /** The directory the runtime starts in, and where its sessions work unless they name another. */
  readonly workingDirectory?: string;
  /** Where the runtime keeps sessions and settings; `~/.groundcrew` unless told otherwise. */
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
  /** The trace the app is in: asked before create, resume and send, told to the runtime, and by it to tools. */
  readonly getTraceContext?: () => TraceContext | Promise<TraceContext>;
  /**
   * Told of each handler of the app that threw: nothing else stops because of it.
   * Without it, a failure is a process warning.
   */
  readonly onHandlerError?: (failure: HandlerFailure) => void;
  /** Told of each option that does not exist, or has no effect; without it, that is a process warning. */
  readonly onWarning?: (message: string) => void;
}
