import type { Client } from '@groundcrew/sdk/browser';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { enter, openClient } from './connection.js';
import { decoded } from './format.js';
import { type ListedSession, listSessions } from './session-list.js';
import { SessionPage } from './session-page.js';
import { SessionsPage } from './sessions-page.js';

/** Shows the inspector in an element of the page. */
export async function start(element: Element): Promise<void> {
  if (!(await enter())) {
    render(<NoEntry />, element);
    return;
  }
  render(<App />, element);
}

function NoEntry() {
  return (
    <main class="notice">
      <h1>Groundcrew</h1>
      <p>
        This page needs the token of its server. Open the link that <code>groundcrew inspect</code> printed,
        or add <code>#</code> and the token to the address.
      </p>
    </main>
  );
}

const lookMilliseconds = 2000;

function App() {
  const [isConnected, setConnected] = useState(true);
  const [client] = useState(() => openClient(setConnected));
  const sessions = useSessions(client);
  const sessionId = useAddress();
  return (
    <div class={sessionId === '' ? 'app' : 'app has-session'}>
      <header class="top">
        <a href="#/" class="brand">
          Groundcrew
        </a>
        {!isConnected && (
          <span role="status" class="badge bad">
            connection lost, trying again
          </span>
        )}
      </header>
      <nav aria-label="Sessions">
        <SessionsPage client={client} sessions={sessions} selected={sessionId} />
      </nav>
      <main>
        {sessionId === '' ? (
          <p class="empty">Choose a session.</p>
        ) : (
          <SessionPage
            key={sessionId}
            client={client}
            sessionId={sessionId}
            listed={sessions?.find((session) => session.sessionId === sessionId)}
          />
        )}
      </main>
    </div>
  );
}

function useSessions(client: Client): readonly ListedSession[] | undefined {
  const [sessions, setSessions] = useState<readonly ListedSession[]>();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const look = async () => {
      const found = await listSessions(client).catch(() => undefined);
      if (isOver) return;
      if (found) setSessions(found);
      timer = setTimeout(() => void look(), document.hidden ? 5 * lookMilliseconds : lookMilliseconds);
    };
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client]);
  return sessions;
}

/** The session in the address, `#/ID`; empty for none. */
function useAddress(): string {
  const read = () => decoded(location.hash.replace(/^#\/?/, ''));
  const [address, setAddress] = useState(read);
  useEffect(() => {
    const change = () => setAddress(read());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return address;
}
