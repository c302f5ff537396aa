import {
  type Client,
  emptyTranscript,
  foldTranscript,
  type ResumeSessionOptions,
  type Session,
  type Transcript,
  transcriptOf,
} from '@groundcrew/sdk/browser';
import { useCallback, useEffect, useRef, useState } from 'react';

/** What a component gets of a session. */
export interface UsedSession {
  /** The conversation, the questions and the usage, as they are now. */
  readonly transcript: Transcript;
  /** Why the session could not be opened. */
  readonly error: Error | undefined;
  readonly isOpen: boolean;
  send(prompt: string): Promise<void>;
  abort(): Promise<void>;
}

/** Opens a session while a component is shown, and renders it anew when something happens in it. */
export function useSession(client: Client, sessionId: string, options?: ResumeSessionOptions): UsedSession {
  const [transcript, setTranscript] = useState(emptyTranscript);
  const [error, setError] = useState<Error>();
  const [session, setSession] = useState<Session>();
  const given = useRef(options);
  given.current = options;

  useEffect(() => {
    const life = new AbortController();
    setTranscript(emptyTranscript);
    setError(undefined);
    follow(
      client,
      sessionId,
      { options: given.current, show: setTranscript, opened: setSession },
      life.signal,
    ).catch((thrown: unknown) => {
      if (!life.signal.aborted) setError(thrown instanceof Error ? thrown : new Error(String(thrown)));
    });
    return () => {
      life.abort();
      setSession(undefined);
    };
  }, [client, sessionId]);

  const send = useCallback(async (prompt: string) => void (await session?.send(prompt)), [session]);
  const abort = useCallback(async () => session?.abort(), [session]);
  return { transcript, error, isOpen: session !== undefined, send, abort };
}

interface Watcher {
  readonly options: ResumeSessionOptions | undefined;
  show(transcript: Transcript): void;
  opened(session: Session): void;
}

/** Events that come while the log is read wait for it: each is folded once, in the order of the log. */
async function follow(
  client: Client,
  sessionId: string,
  { options, show, opened }: Watcher,
  signal: AbortSignal,
): Promise<void> {
  const session = await client.resumeSession(sessionId, { streaming: true, ...options });
  signal.addEventListener('abort', () => void session.disconnect(), { once: true });
  if (signal.aborted) return void session.disconnect();
  const coming = session.events(signal);
  const stored = await session.getEvents();
  const known = new Set(stored.map(({ id }) => id));
  let transcript = transcriptOf(stored);
  show(transcript);
  opened(session);
  for await (const event of coming) {
    if (known.has(event.id)) continue;
    transcript = foldTranscript(transcript, event);
    show(transcript);
  }
}
