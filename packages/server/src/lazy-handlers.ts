import type { MethodTable } from '@groundcrew/protocol';
import type { SessionHandlers } from './handler.js';

type Callable = Readonly<Record<string, (params: unknown, context: unknown) => unknown>>;

/** Handlers that few clients call: the file that has them is loaded by the first call. */
export function lazySessionHandlers<T extends MethodTable>(
  names: readonly (keyof T & string)[],
  load: () => Promise<SessionHandlers<T>>,
): SessionHandlers<T> {
  const handlers = names.map((name) => {
    const handler = async (params: unknown, context: unknown) =>
      ((await load()) as unknown as Callable)[name]?.(params, context);
    return [name, handler] as const;
  });
  // Each is called with what the one that stands for it takes.
  return Object.fromEntries(handlers) as unknown as SessionHandlers<T>;
}
