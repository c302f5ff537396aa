/** @jsxImportSource react */
import { Client, RuntimeConnection } from '@groundcrew/sdk/browser';
import { type FormEvent, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useSession } from './use-session.js';

/** A conversation in a page: what was said, and a field for more. */
function Chat({ client, sessionId }: { readonly client: Client; readonly sessionId: string }) {
  const { transcript, error, isOpen, send, abort } = useSession(client, sessionId);
  const [prompt, setPrompt] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setPrompt('');
    void send(prompt);
  };
  const { items, streaming } = transcript.main;
  return (
    <main>
      {error && <p role="alert">{error.message}</p>}
      <ol>
        {items.map((item) => (
          <li key={`${item.type} ${item.id}`} data-type={item.type}>
            {item.type === 'tool' ? `${item.name}: ${item.state}` : item.text}
          </li>
        ))}
        {streaming && <li data-type="streaming">{streaming.text}</li>}
      </ol>
      <form onSubmit={submit}>
        <input aria-label="Prompt" value={prompt} onChange={({ target }) => setPrompt(target.value)} />
        <button type="submit" disabled={!isOpen || prompt === ''}>
          Send
        </button>
        <button type="button" disabled={transcript.isIdle} onClick={() => void abort()}>
          Stop
        </button>
      </form>
    </main>
  );
}

/** Shows a session of a server in an element of a page. */
export function showChat(
  element: Element,
  {
    url,
    connectionToken,
    sessionId,
  }: { readonly url: string; readonly connectionToken: string; readonly sessionId: string },
): void {
  const client = new Client({ connection: RuntimeConnection.forWebSocket(url, { connectionToken }) });
  createRoot(element).render(<Chat client={client} sessionId={sessionId} />);
}
