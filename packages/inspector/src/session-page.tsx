import type { Client } from '@groundcrew/sdk/browser';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Actions } from './actions.js';
import { ContextPicture } from './context-picture.js';
import { Conversation } from './conversation.js';
import { EventList } from './event-list.js';
import { money } from './format.js';
import { Questions } from './questions.js';
import { Requests } from './requests.js';
import { emptyView, type Following, followSession, type SessionView } from './session-feed.js';
import { type ListedSession, waitText } from './session-list.js';
import { TimelineView } from './timeline-view.js';
import { UsagePlot } from './usage-plot.js';

const tabs = ['Conversation', 'Timeline', 'Events', 'Requests', 'Context', 'Usage'] as const;
type Tab = (typeof tabs)[number];

/** One session: what happens in it, and what can be done about it. */
export function SessionPage({
  client,
  sessionId,
  listed,
}: {
  readonly client: Client;
  readonly sessionId: string;
  readonly listed: ListedSession | undefined;
}) {
  const view = useView(client, sessionId, listed?.state);
  const [tab, setTab] = useState<Tab>('Conversation');
  const { transcript } = view;
  const contents: Readonly<Record<Tab, () => ComponentChildren>> = {
    Conversation: () => <Conversation transcript={transcript} earlier={view.earlier} />,
    Timeline: () => <TimelineView turns={view.turns} uses={view.uses} />,
    Events: () => (
      <EventList client={client} sessionId={sessionId} events={view.events} revision={view.revision} />
    ),
    Requests: () => <Requests sessionId={sessionId} events={view.events} revision={view.revision} />,
    Context: () => (
      <ContextPicture
        client={client}
        sessionId={sessionId}
        uses={view.uses}
        revision={`${view.events.length} ${view.uses.length} ${listed?.state}`}
      />
    ),
    Usage: () => <UsagePlot uses={view.uses} drawn={view.uses.length} />,
  };
  return (
    <section class="session-page" aria-label={`Session ${sessionId}`}>
      <Head view={view} listed={listed} sessionId={sessionId} />
      <Questions client={client} sessionId={sessionId} questions={transcript.questions} />
      <Tabs tab={tab} setTab={setTab} />
      <div class="view" role="tabpanel" id="view" aria-labelledby={`tab-${tab}`}>
        {contents[tab]()}
      </div>
      <Actions client={client} sessionId={sessionId} events={view.events} state={listed?.state} />
    </section>
  );
}

function useView(client: Client, sessionId: string, state: string | undefined): SessionView {
  const [view, setView] = useState<SessionView>(emptyView);
  const following = useRef<Following>(undefined);
  useEffect(() => {
    following.current = followSession(client, sessionId, setView);
    return () => following.current?.close();
  }, [client, sessionId]);
  // A session that has just been opened, or that waits, may have questions from before.
  useEffect(() => following.current?.lookForQuestions(), [state, view.status]);
  return view;
}

function Head({
  view: { transcript, status },
  listed,
  sessionId,
}: {
  readonly view: SessionView;
  readonly listed: ListedSession | undefined;
  readonly sessionId: string;
}) {
  return (
    <header>
      <a class="back" href="#/">
        ‹ Sessions
      </a>
      <h1>{transcript.title ?? listed?.title ?? sessionId}</h1>
      <p class="facts">
        {listed && <span class={`state ${listed.state}`}>{listed.state}</span>}
        {status !== 'live' && <span class="badge">{status}</span>}
        {transcript.model && <span>{transcript.model}</span>}
        {listed?.cost !== undefined && <span>{money(listed.cost)}</span>}
        {listed?.waitingOn.map((wait, index) => (
          <span key={index}>waits for {waitText(wait)}</span>
        ))}
      </p>
    </header>
  );
}

function Tabs({ tab, setTab }: { readonly tab: Tab; setTab(tab: Tab): void }) {
  return (
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={(event) => moveTab(event, tab, setTab)}>
      {tabs.map((name) => (
        <button
          key={name}
          type="button"
          role="tab"
          id={`tab-${name}`}
          aria-selected={name === tab}
          aria-controls="view"
          tabIndex={name === tab ? 0 : -1}
          onClick={() => setTab(name)}
        >
          {name}
        </button>
      ))}
    </div>
  );
}

function moveTab(event: KeyboardEvent, tab: Tab, setTab: (tab: Tab) => void): void {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (step === undefined) return;
  const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length] ?? tab;
  setTab(next);
  document.getElementById(`tab-${next}`)?.focus();
}
