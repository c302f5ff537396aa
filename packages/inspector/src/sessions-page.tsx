import type { Client } from '@groundcrew/sdk/browser';
import { useState } from 'preact/hooks';
import { ago, money } from './format.js';
import { type ListedSession, waitText } from './session-list.js';
import { unansweredHandlers } from './unanswered-handlers.js';
import { VirtualList } from './virtual-list.js';

/** The live list of sessions. */
export function SessionsPage({
  client,
  sessions,
  selected,
}: {
  readonly client: Client;
  readonly sessions: readonly ListedSession[] | undefined;
  readonly selected: string;
}) {
  const [search, setSearch] = useState('');
  const words = search.toLowerCase();
  const found = (sessions ?? []).filter(({ title, sessionId, directory }) =>
    `${title} ${sessionId} ${directory}`.toLowerCase().includes(words),
  );
  const [problem, setProblem] = useState('');
  const begin = () => {
    setProblem('');
    client.createSession({ streaming: true, ...unansweredHandlers }).then(
      ({ sessionId }) => {
        location.hash = `#/${encodeURIComponent(sessionId)}`;
      },
      (error: Error) => setProblem(error.message),
    );
  };
  return (
    <div class="sessions">
      <div class="bar">
        <input
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <button type="button" onClick={begin}>
          New
        </button>
      </div>
      {problem !== '' && (
        <p role="alert" class="badge bad">
          {problem}
        </p>
      )}
      {sessions === undefined && <p class="empty">Reading…</p>}
      {sessions?.length === 0 && <p class="empty">No sessions yet.</p>}
      <VirtualList
        items={found}
        rowHeight={64}
        label="Sessions"
        row={(session) => <SessionRow session={session} isSelected={session.sessionId === selected} />}
      />
    </div>
  );
}

function SessionRow({
  session,
  isSelected,
}: {
  readonly session: ListedSession;
  readonly isSelected: boolean;
}) {
  const { sessionId, title, state, waitingOn, cost, modifiedTime } = session;
  return (
    <a
      class={isSelected ? 'session selected' : 'session'}
      href={`#/${encodeURIComponent(sessionId)}`}
      aria-current={isSelected ? 'page' : undefined}
    >
      <span class="title">{title}</span>
      <span class="facts">
        <span class={`state ${state}`}>{state}</span>
        {waitingOn.length > 0 && <span class="wait">{waitingOn.map(waitText).join(', ')}</span>}
        {cost !== undefined && <span>{money(cost)}</span>}
        <span class="when">{ago(modifiedTime)}</span>
      </span>
    </a>
  );
}
