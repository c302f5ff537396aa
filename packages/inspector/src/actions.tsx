import type { Client, Session, SessionEvent } from '@groundcrew/sdk/browser';
import { useRef, useState } from 'preact/hooks';
import type { ListedSession } from './session-list.js';
import { unansweredHandlers } from './unanswered-handlers.js';

/** Send, steer, abort, export. A session that is open nowhere is opened by the first of them. */
export function Actions({
  client,
  sessionId,
  events,
  state,
}: {
  readonly client: Client;
  readonly sessionId: string;
  readonly events: readonly SessionEvent[];
  readonly state: ListedSession['state'] | undefined;
}) {
  const isIdle = state !== 'working' && state !== 'waiting';
  const [prompt, setPrompt] = useState('');
  const { problem, attempt } = useAttempt();
  const open = useOpening(client, sessionId, state);
  const send = (mode: 'enqueue' | 'immediate') => {
    if (prompt.trim() === '') return;
    setPrompt('');
    // What could not be sent is not lost.
    const giveBack = () => setPrompt((written) => (written === '' ? prompt : written));
    attempt(async () => (await open()).send({ prompt, mode }), giveBack);
  };
  const sendOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    send('enqueue');
  };
  return (
    <form
      class="actions"
      onSubmit={(event) => {
        event.preventDefault();
        send('enqueue');
      }}
    >
      {problem !== '' && (
        <p role="alert" class="badge bad">
          {problem}
        </p>
      )}
      <textarea
        aria-label="Prompt"
        placeholder="Say something to this session"
        rows={2}
        value={prompt}
        onInput={({ currentTarget }) => setPrompt(currentTarget.value)}
        onKeyDown={sendOnEnter}
      />
      <Buttons
        isIdle={isIdle}
        isEmpty={prompt.trim() === ''}
        steer={() => send('immediate')}
        abort={() => attempt(() => client.call('session.abort', { sessionId }))}
        open={() => attempt(open)}
        save={() => download(sessionId, events)}
      />
    </form>
  );
}

/** Does something; why it failed is said until the next attempt. */
function useAttempt() {
  const [problem, setProblem] = useState('');
  const attempt = (work: () => Promise<unknown>, onFailure?: () => void) => {
    setProblem('');
    work().catch((error: Error) => {
      onFailure?.();
      setProblem(error.message);
    });
  };
  return { problem, attempt };
}

interface ButtonsProps {
  readonly isIdle: boolean;
  readonly isEmpty: boolean;
  steer(): void;
  abort(): void;
  open(): void;
  save(): void;
}

function Buttons({ isIdle, isEmpty, steer, abort, open, save }: ButtonsProps) {
  return (
    <div class="bar">
      <button type="submit" class="good" disabled={isEmpty}>
        Send
      </button>
      <button type="button" disabled={isIdle || isEmpty} onClick={steer}>
        Steer
      </button>
      <button type="button" disabled={isIdle} onClick={abort}>
        Abort
      </button>
      <button type="button" onClick={open}>
        Open
      </button>
      <button type="button" onClick={save}>
        Export
      </button>
    </div>
  );
}

function useOpening(client: Client, sessionId: string, state: string | undefined): () => Promise<Session> {
  const opened = useRef<Promise<Session>>(undefined);
  return () => {
    opened.current ??= openSession(client, sessionId, state);
    opened.current.catch(() => {
      opened.current = undefined;
    });
    return opened.current;
  };
}

function openSession(client: Client, sessionId: string, state: string | undefined): Promise<Session> {
  // The client that has it open has decided whether it streams.
  const isNowhere = state === 'stored' || state === 'interrupted';
  const options = { continuePendingWork: true, ...(isNowhere && { streaming: true }), ...unansweredHandlers };
  return client.resumeSession(sessionId, options);
}

/** The log as lines of JSON, a file of the user's own. */
function download(sessionId: string, events: readonly SessionEvent[]): void {
  const lines = events.map((event) => `${JSON.stringify(event)}\n`);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(lines, { type: 'application/jsonl' }));
  link.download = `${sessionId}.jsonl`;
  link.click();
  URL.revokeObjectURL(link.href);
}
