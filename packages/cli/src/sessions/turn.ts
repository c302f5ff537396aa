import type { Session, SessionEvent } from '@groundcrew/sdk';

/** How a turn ended. */
export type TurnEnd =
  | { readonly type: 'done' }
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly message: string };

/** A prompt, or a command that sends one. */
export type TurnStart = string | { readonly command: string; readonly args: string };

/** Gives the session a prompt and waits until it is idle; the signal stops the turn, and then the wait ends too. */
export async function takeTurn(session: Session, start: TurnStart, signal: AbortSignal): Promise<TurnEnd> {
  if (signal.aborted) return { type: 'stopped' };
  const events = session.events();
  const stop = () => void session.abort().catch(() => events.return?.());
  try {
    await begin(session, start);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    const failure = await failureBeforeIdle(events);
    if (signal.aborted) return { type: 'stopped' };
    return failure === undefined ? { type: 'done' } : { type: 'failed', message: failure };
  } finally {
    signal.removeEventListener('abort', stop);
    await events.return?.();
  }
}

async function begin(session: Session, start: TurnStart): Promise<void> {
  if (typeof start === 'string') {
    await session.send(start);
    return;
  }
  const { command: commandName, args } = start;
  const { error } = await session.call('session.commands.execute', { commandName, args });
  if (error !== undefined) throw new Error(error);
}

async function failureBeforeIdle(events: AsyncIterable<SessionEvent>): Promise<string | undefined> {
  let failure: string | undefined;
  for await (const event of events) {
    if (event.agentId !== undefined) continue;
    if (event.type === 'session.idle') break;
    // A notice that a client logs is an event of the same type, and ends no turn.
    if (event.type === 'session.error' && event.data.errorType !== 'notification')
      failure = event.data.message;
  }
  return failure;
}
