import type { Method, MethodTable, ParsedParams, Result } from '@groundcrew/protocol';
import type { RawJson, RawPieces } from '@groundcrew/rpc';
import type { Runtime, Session } from '@groundcrew/runtime';
import type { Client } from './client.js';
import type { NewerSessions } from './dialect/newer-sessions.js';
import type { ServerEnvironment } from './environment.js';
import type { Extensions } from './extensions.js';
import type { ForwardedTelemetry } from './forwarded-telemetry.js';
import type { Inference } from './inference.js';

/** What a handler may use besides its parameters. */
export interface CallContext {
  readonly runtime: Runtime;
  readonly client: Client;
  readonly inference: Inference;
  readonly environment: ServerEnvironment;
  readonly signal: AbortSignal;
  readonly newerSessions: NewerSessions;
  readonly extensions: Extensions;
  /** What clients that ask for it are sent of their sessions. */
  readonly telemetry: ForwardedTelemetry;
  /** Does something as soon as the answer to this request is on its way. */
  afterAnswer(work: () => void): void;
  /** A warning for each option of this request that has no effect; throws when one is refused. */
  optionWarnings(): readonly string[];
}

/** The same for a method of one session, which the dispatcher has found. */
export interface SessionCallContext extends CallContext {
  readonly session: Session;
}

export type Handler<M extends Method, Context = CallContext> = (
  params: ParsedParams<M>,
  context: Context,
) => Promise<Result<M> | RawJson | RawPieces>;

/** One handler for each method of a table: a missing one does not compile. */
export type Handlers<T extends MethodTable> = { readonly [K in keyof T]: Handler<T[K]> };

/** The same for methods of one session: each is called with the live session that `sessionId` names. */
export type SessionHandlers<T extends MethodTable> = {
  readonly [K in keyof T]: Handler<T[K], SessionCallContext>;
};
