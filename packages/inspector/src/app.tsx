import type { Client } from '@groundcrew/sdk/browser';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { enter, isShutOut, openClient, tokenInAddress } from './connection.js';
import { decoded } from './format.js';
import { type ListedSession, listSessions } from './session-list.js';
import { SessionPage } from './session-page.js';
import { SessionsPage } from './sessions-page.js';

/** Shows the inspector in an element of the page. */
export async function start(element: Element): Promise<void> {
  // A token that is added to the address of an open page: it begins anew with it.
  addEventListener('hashchange', () => {
    if (tokenInAddress() !== '') location.reload();
  });
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
  if (useShutOut(isConnected)) return <NoEntry />;
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

/** Whether a connection that is lost will not come back: the server wants a token that this page does not have. */
function useShutOut(isConnected: boolean): boolean {
  const [isOut, setOut] = useState(false);
  useEffect(() => {
    if (isConnected) return undefined;
    const look = async () => {
      if (await isShutOut()) setOut(true);
    };
    const timer = setInterval(() => void look(), lookMilliseconds);
    return () => clearInterval(timer);
  }, [isConnected]);
  return isOut;
}

/** The session in the address, `#/ID`; empty for none. */
function useAddress(): string {
  const read = () => (location.hash.startsWith('#/') ? decoded(location.hash.slice(2)) : '');
  const [address, setAddress] = useState(read);
  useEffect(() => {
    const change = () => setAddress(read());
    addEventListener('hashchange', change);
    return () => removeEventListener('hashchange', change);
  }, []);
  return address;
}
