import type { Method, MethodTable, ParsedParams, Result } from '@groundcrew/protocol';
import type { RawJson } from '@groundcrew/rpc';
import type { Runtime } from '@groundcrew/runtime';
import type { Client } from './client.js';
import type { ServerEnvironment } from './environment.js';
import type { Inference } from './inference.js';

/** What a handler may use besides its parameters. */
export interface CallContext {
  readonly runtime: Runtime;
  readonly client: Client;
  readonly inference: Inference;
  readonly environment: ServerEnvironment;
  readonly signal: AbortSignal;
}

export type Handler<M extends Method> = (
  params: ParsedParams<M>,
  context: CallContext,
) => Promise<Result<M> | RawJson>;

/** One handler for each method of a table: a missing one does not compile. */
export type Handlers<T extends MethodTable> = { readonly [K in keyof T]: Handler<T[K]> };
