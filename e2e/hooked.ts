import type { WireClient, WireSession } from '@groundcrew/testkit';

/** A hook of a test was called. */
export interface Invoked {
  readonly hookType: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
  readonly input: any;
}

type Handler = (input: Invoked['input']) => unknown;

/** A hook that never answers. */
export const never = (): Promise<never> => new Promise<never>(() => undefined);

/** Has a client answer hooks by these handlers, and have no opinion otherwise. What it returns fills with the calls. */
export function hooked(client: WireClient, handlers: Readonly<Record<string, Handler>> = {}): Invoked[] {
  const invoked: Invoked[] = [];
  client.answer = async (_method, params) => {
    const { hookType, input } = params as Invoked;
    invoked.push({ hookType, input });
    return { output: await handlers[hookType]?.(input) };
  };
  return invoked;
}

/** The inputs of one kind of hook. */
export function inputsOf(invoked: readonly Invoked[], hookType: string): Invoked['input'][] {
  return invoked.filter((each) => each.hookType === hookType).map(({ input }) => input);
}

/** What the events of one kind say. */
export function dataOf({ events }: WireSession, type: string): Invoked['input'][] {
  return events.filter((event) => event.type === type).map(({ data }) => data);
}

/** What `hook.end` says of hooks of one kind. */
export function endsOf(session: WireSession, hookType: string): Invoked['input'][] {
  return dataOf(session, 'hook.end').filter((data) => data.hookType === hookType);
}

/** Hooks that were called and have not ended. */
export function openHooks(session: WireSession): readonly string[] {
  const ended = dataOf(session, 'hook.end').map(({ hookInvocationId }) => hookInvocationId);
  return dataOf(session, 'hook.start')
    .filter(({ hookInvocationId }) => !ended.includes(hookInvocationId))
    .map(({ hookType }) => hookType);
}
