import type { Client, SessionEvent } from '@groundcrew/sdk/browser';
import { useMemo, useState } from 'preact/hooks';
import { clock } from './format.js';
import { VirtualList } from './virtual-list.js';

/** All stored events, with a search over their text and a filter by type. */
export function EventList({
  client,
  sessionId,
  events,
  revision,
}: {
  readonly client: Client;
  readonly sessionId: string;
  readonly events: readonly SessionEvent[];
  readonly revision: number;
}) {
  const [search, setSearch] = useState('');
  const [type, setType] = useState('');
  const [chosen, setChosen] = useState<SessionEvent>();
  const types = useMemo(() => [...new Set(events.map((event) => event.type))].sort(), [events.length]);
  const found = useMemo(() => filter(events, type, search), [revision, type, search]);
  const { fork, problem } = useFork(client, sessionId);
  return (
    <div class="events">
      <div class="bar">
        <input
          type="search"
          placeholder="Search events"
          aria-label="Search events"
          value={search}
          onInput={({ currentTarget }) => setSearch(currentTarget.value)}
        />
        <TypeChoice types={types} type={type} setType={setType} />
        <span class="count" role="status">
          {found.length.toLocaleString('en')} of {events.length.toLocaleString('en')}
        </span>
      </div>
      <VirtualList
        items={found}
        rowHeight={28}
        label="Events"
        follows
        row={(event) => (
          <button
            type="button"
            class={event === chosen ? 'event selected' : 'event'}
            onClick={() => setChosen(event === chosen ? undefined : event)}
          >
            <span class="when">{clock(event.timestamp)}</span>
            <span class="type">{event.type}</span>
            <span class="data">{shortText(event)}</span>
          </button>
        )}
      />
      {problem !== '' && (
        <p role="alert" class="badge bad">
          {problem}
        </p>
      )}
      {chosen && <ChosenEvent event={chosen} fork={() => fork(chosen)} close={() => setChosen(undefined)} />}
    </div>
  );
}

/** Forks the session before an event and goes there; why that failed is said. */
function useFork(client: Client, sessionId: string) {
  const [problem, setProblem] = useState('');
  const fork = (event: SessionEvent) => {
    setProblem('');
    client.call('sessions.fork', { sessionId, toEventId: event.id }).then(
      (made) => {
        location.hash = `#/${encodeURIComponent(made.sessionId)}`;
      },
      (error: Error) => setProblem(error.message),
    );
  };
  return { fork, problem };
}

/** More characters than a row has room for are laid out for nothing. */
const mostShown = 160;

/** The beginning of what an event says. The whole of a long one is not written for it: its long texts are cut first. */
function shortText({ data }: SessionEvent): string {
  const cut = (_: string, value: unknown) => (typeof value === 'string' ? value.slice(0, mostShown) : value);
  return JSON.stringify(data, cut).slice(0, mostShown);
}

function TypeChoice({
  types,
  type,
  setType,
}: {
  readonly types: readonly string[];
  readonly type: string;
  setType(type: string): void;
}) {
  return (
    <select
      aria-label="Type of event"
      value={type}
      onChange={({ currentTarget }) => setType(currentTarget.value)}
    >
      <option value="">all types</option>
      {types.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function ChosenEvent({ event, fork, close }: { readonly event: SessionEvent; fork(): void; close(): void }) {
  return (
    <div class="chosen" role="region" aria-label="Event" tabIndex={0}>
      <div class="bar">
        <strong>{event.type}</strong>
        <button type="button" onClick={fork}>
          Fork before this event
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      <pre tabIndex={0}>{JSON.stringify(event, null, 2)}</pre>
    </div>
  );
}

function filter(events: readonly SessionEvent[], type: string, search: string): readonly SessionEvent[] {
  if (type === '' && search === '') return events.slice();
  const words = search.toLowerCase();
  return events.filter(
    (event) =>
      (type === '' || event.type === type) &&
      (words === '' || JSON.stringify(event).toLowerCase().includes(words)),
  );
}
