import type { ModelAccess } from '@groundcrew/runtime';

/** How to find the service of a model. */
export interface OtherModels {
  /** The one that the way was found by. */
  readonly model: string | undefined;
  open(model: string): Promise<ModelAccess>;
}

/** The way to a session's model, and for any other model the way that a session naming it would have. */
export function withOtherModels(base: ModelAccess, { model, open }: OtherModels): ModelAccess {
  const found = new Map<string, Promise<ModelAccess>>();
  const isOwn = (wanted: string) => wanted === model || wanted === base.defaultModel;
  const accessTo = (wanted: string): Promise<ModelAccess> => {
    const known = found.get(wanted);
    if (known !== undefined) return known;
    // A model that no service is certain to have is asked of the session's own service.
    const opened = open(wanted).catch(() => base);
    found.set(wanted, opened);
    return opened;
  };
  return {
    ...base,
    provider: {
      ...base.provider,
      stream(request, signal) {
        if (isOwn(request.model)) return base.provider.stream(request, signal);
        return streamed(accessTo(request.model), (access) => access.provider.stream(request, signal));
      },
    },
  };
}

async function* streamed<T>(
  access: Promise<ModelAccess>,
  stream: (access: ModelAccess) => AsyncIterable<T>,
): AsyncGenerator<T> {
  yield* stream(await access);
}
