import type { ModelEvent, ModelProvider, ModelRequest } from '@groundcrew/models';

/** All events of an answer, in one list. */
export async function collect(
  provider: ModelProvider,
  request: ModelRequest,
): Promise<readonly ModelEvent[]> {
  const events: ModelEvent[] = [];
  for await (const batch of provider.stream(request, new AbortController().signal)) events.push(...batch);
  return events;
}
