import type { SessionEvent } from '@groundcrew/protocol';
import { AsyncQueue } from '@groundcrew/rpc';
import { GroundcrewError } from './errors.js';
import { TurnText } from './turn-text.js';
import type { AssistantMessageEvent } from './turn-wait.js';
import type { Call } from './wire.js';

/** What a stream needs of its session. */
interface StreamedSession {
  readonly isOver: boolean;
  readonly sessionId: string;
  readonly request: Call;
  on(handler: (event: SessionEvent) => unknown): () => void;
  abort(): Promise<void>;
}

/** A prompt whose turn is streamed. */
export interface StreamedTurn {
  readonly session: StreamedSession;
  readonly messageId: string;
  /** Sends the prompt and waits until its turn is over. */
  take(): Promise<AssistantMessageEvent | undefined>;
}

/** What the agent says in the turn. A reader that stops ends the turn; the signal that ended the wait does too. */
export async function* streamTurn(
  { session, messageId, take }: StreamedTurn,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void, undefined> {
  const text = new TurnText(messageId);
  const pieces = new AsyncQueue<string>();
  const stopListening = session.on((event) => {
    const piece = text.receive(event);
    if (piece !== '') pieces.push(piece);
    if (text.isOver) pieces.end();
  });
  let isOver = false;
  take().then(
    (last) => {
      // A prompt that was sent before has had its turn already.
      if (!text.hasBegun && last) pieces.push(last.data.content);
      isOver = true;
      pieces.end();
    },
    (error: unknown) => {
      isOver = !signal?.aborted;
      pieces.fail(error);
    },
  );
  try {
    yield* pieces;
    isOver = true;
  } finally {
    stopListening();
    if (!isOver && !session.isOver) await stopTurn(session, messageId, text.hasBegun);
  }
}

/** Stops the turn of a prompt, takes the prompt back, or stops its turn when it begins. */
export async function stopTurn(
  session: StreamedSession,
  messageId: string,
  hasBegun: boolean,
): Promise<void> {
  const stop = () => session.abort().catch(unlessUnreachable);
  if (hasBegun) return stop();
  const stopListening = session.on(({ type, data }) => {
    if (type !== 'user.message' || data.messageId !== messageId) return undefined;
    stopListening();
    return stop();
  });
  const isGone = await withdraw(session, messageId).catch(unlessUnreachable);
  if (isGone) stopListening();
}

/** False when other prompts came after it: the runtime takes back the last one only. */
async function withdraw({ request, sessionId }: StreamedSession, messageId: string): Promise<boolean> {
  const { items } = await request('session.queue.pendingItems', { sessionId });
  if (items.at(-1)?.id !== messageId) return false;
  return (await request('session.queue.removeMostRecent', { sessionId })).removed;
}

/** In a session that cannot be reached there is nothing to stop. */
function unlessUnreachable(error: unknown): undefined {
  if (!(error instanceof GroundcrewError)) throw error;
}
