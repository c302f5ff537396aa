import type { MethodName, Methods, Params, Result } from '@groundcrew/protocol';

/** Calls a method of the runtime; types come from the table. */
export type Call = <K extends MethodName>(
  method: K,
  params: Params<Methods[K]>,
  signal?: AbortSignal,
) => Promise<Result<Methods[K]>>;

/** The methods of one session. */
export type SessionMethodName = {
  [K in MethodName]: 'sessionId' extends keyof Params<Methods[K]> ? K : never;
}[MethodName];

/** What such a method takes besides its session; may be left out where nothing else is needed. */
export type SessionCallArguments<K extends SessionMethodName> =
  Record<never, never> extends Omit<Params<Methods[K]>, 'sessionId'>
    ? [params?: Omit<Params<Methods[K]>, 'sessionId'>, signal?: AbortSignal]
    : [params: Omit<Params<Methods[K]>, 'sessionId'>, signal?: AbortSignal];
