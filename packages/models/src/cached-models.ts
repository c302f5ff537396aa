import type { ModelInfo, ModelProvider } from './model.js';

export interface CachedModelsOptions {
  /** Milliseconds for which a list is good. */
  readonly maxAge?: number;
  readonly now?: () => number;
}

/**
 * The same service, asked for its models once, however many want them, and again when the list has grown old. A failure
 * reaches every waiting caller, and is not kept.
 */
export function withCachedModels(provider: ModelProvider, options: CachedModelsOptions = {}): ModelProvider {
  const { maxAge = 300_000, now = Date.now } = options;
  let list: { readonly models: Promise<readonly ModelInfo[]>; readonly until: number } | undefined;
  return {
    ...provider,
    models(signal) {
      if (!list || now() >= list.until) {
        const asked = { models: provider.models(), until: now() + maxAge };
        asked.models.catch(() => {
          if (list === asked) list = undefined;
        });
        list = asked;
      }
      return signal ? unlessAborted(list.models, signal) : list.models;
    },
  };
}

/** One who gives up does not end what others wait for. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
