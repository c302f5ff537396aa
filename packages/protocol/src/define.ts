import { en } from 'zod/locales';
import type * as z from 'zod/mini';
import type { Immutable } from './json.js';
import { once } from './schema.js';

/** A schema built when first asked for: start-up pays for no schema it does not use. */
export type Lazy<S extends z.ZodMiniType> = () => S;

/** One RPC method: what goes in, what comes out. The table that holds it gives it its name. */
export interface Method<P extends z.ZodMiniType = z.ZodMiniType, R extends z.ZodMiniType = z.ZodMiniType> {
  /** One line for the documentation. */
  readonly summary: string;
  readonly params: Lazy<P>;
  readonly result: Lazy<R>;
}

/** Methods by their name on the wire. */
export type MethodTable = Readonly<Record<string, Method>>;

/** What a caller writes. */
export type Params<M extends Method> = Immutable<z.input<ReturnType<M['params']>>>;

/** What a handler gets, parsed. */
export type ParsedParams<M extends Method> = Immutable<z.output<ReturnType<M['params']>>>;

/** What a handler answers and a caller gets. */
export type Result<M extends Method> = Immutable<z.output<ReturnType<M['result']>>>;

/** One message without an answer. */
export interface Notification<P extends z.ZodMiniType = z.ZodMiniType> {
  /** One line for the documentation. */
  readonly summary: string;
  readonly params: Lazy<P>;
}

/** Notifications by their name on the wire. */
export type NotificationTable = Readonly<Record<string, Notification>>;

/** What a notification says. */
export type NotificationParams<N extends Notification> = Immutable<z.output<ReturnType<N['params']>>>;

/** One event: durable events enter the log and replay; ephemeral ones only reach who is listening. */
export interface EventKind<D extends z.ZodMiniType = z.ZodMiniType, Durable extends boolean = boolean> {
  /** One line for the documentation. */
  readonly summary: string;
  readonly durable: Durable;
  readonly data: Lazy<D>;
}

/** Events by their type on the wire. */
export type EventTable = Readonly<Record<string, EventKind>>;

/** An entry of a table of methods. */
export function method<P extends z.ZodMiniType, R extends z.ZodMiniType>(
  summary: string,
  params: Lazy<P>,
  result: Lazy<R>,
): Method<P, R> {
  return { summary, params: once(params), result: once(result) };
}

/** An entry of a table of notifications. */
export function notification<P extends z.ZodMiniType>(summary: string, params: Lazy<P>): Notification<P> {
  return { summary, params: once(params) };
}

/** An entry of a table of events: in the log, and sent again to clients that read the log. */
export function durable<D extends z.ZodMiniType>(summary: string, data: Lazy<D>): EventKind<D, true> {
  return { summary, durable: true, data: once(data) };
}

/** An entry of a table of events: never in the log, lost to clients that do not listen. */
export function ephemeral<D extends z.ZodMiniType>(summary: string, data: Lazy<D>): EventKind<D, false> {
  return { summary, durable: false, data: once(data) };
}

/** Reads what a peer sent. Without compiled parsers: the few calls of each schema would never earn them back. */
export function read<S extends z.ZodMiniType>(
  schema: Lazy<S>,
  value: unknown,
): z.core.util.SafeParseResult<z.output<S>> {
  return schema().safeParse(withoutNulls(value), { jitless: true, error: inEnglish });
}

/** Params as a schema wants them: none at all is `{}`, and a field that is `null` counts as left out. */
export function withoutNulls(params: unknown): unknown {
  if (params === undefined || params === null || isNothingByPosition(params)) return {};
  if (typeof params !== 'object' || Array.isArray(params)) return params;
  if (!Object.values(params).includes(null)) return params;
  return Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null));
}

/** Some clients call a method without parameters with an empty list, or with a list of nothing. */
function isNothingByPosition(params: unknown): boolean {
  return Array.isArray(params) && params.every((each) => each === null);
}

/** The small zod has no words of its own; these are looked up only when something is refused. */
const inEnglish: z.core.$ZodErrorMap = (issue) => en().localeError(issue);
