import type { MethodTable } from '@groundcrew/protocol';
import type { Handlers, SessionHandlers } from './handler.js';

/** Handlers that few clients call: the file that has them is loaded by the first call. */
export function lazySessionHandlers<T extends MethodTable>(
  names: readonly (keyof T & string)[],
  load: () => Promise<SessionHandlers<T>>,
): SessionHandlers<T> {
  return lazy(names, load);
}

/** The same for methods that name no session. */
export function lazyHandlers<T extends MethodTable>(
  names: readonly (keyof T & string)[],
  load: () => Promise<Handlers<T>>,
): Handlers<T> {
  return lazy(names, load);
}

type Callable = Readonly<Record<string, (params: unknown, context: unknown) => unknown>>;

/** The cast is safe: each is called with what the one that stands for it takes. */
function lazy<H extends object>(names: readonly string[], load: () => Promise<H>): H {
  const handlers = names.map((name) => {
    const handler = async (params: unknown, context: unknown) =>
      ((await load()) as Callable)[name]?.(params, context);
    return [name, handler] as const;
  });
  return Object.fromEntries(handlers) as H;
}
