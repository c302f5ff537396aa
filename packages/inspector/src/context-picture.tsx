import type { Client, Methods, Result } from '@groundcrew/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { count } from './words.js';

type Attribution = NonNullable<
  Result<Methods['session.metadata.getContextAttribution']>['contextAttribution']
>;

const names: Readonly<Record<keyof Attribution['categories'], string>> = {
  systemPrompt: 'system prompt',
  customInstructions: 'instructions',
  systemTools: 'tools',
  mcpTools: 'MCP tools',
  messages: 'messages',
  buffer: 'buffer',
  freeSpace: 'free',
};

/** What fills the window of the model, as one stacked bar and a list of the largest pieces. */
export function ContextPicture({
  client,
  sessionId,
  revision,
}: {
  readonly client: Client;
  readonly sessionId: string;
  readonly revision: number;
}) {
  const found = useAttribution(client, sessionId, revision);
  if (found === undefined) return <p class="empty">Reading…</p>;
  if (found === null)
    return (
      <p class="empty">The window is known of sessions that are open. Send a prompt, or open it below.</p>
    );
  const total = Math.max(1, found.limit);
  const parts = Object.entries(names).map(([key, name]) => ({
    key,
    name,
    tokens: found.categories[key as keyof Attribution['categories']],
  }));
  return (
    <div class="context">
      <p class="facts">
        <span>
          {count(found.totalTokens)} of {count(found.limit)} tokens
        </span>
        <span>{found.modelId}</span>
        <span>{found.compactions.count} compactions</span>
      </p>
      <div
        class="stack"
        role="img"
        aria-label={parts.map(({ name, tokens }) => `${name} ${tokens}`).join(', ')}
      >
        {parts.map(({ key, tokens }) => (
          <span key={key} class={`piece ${key}`} style={{ width: `${(tokens / total) * 100}%` }} />
        ))}
      </div>
      <ul class="legend">
        {parts.map(({ key, name, tokens }) => (
          <li key={key}>
            <span class={`piece ${key}`} /> {name} <strong>{count(tokens)}</strong>
          </li>
        ))}
      </ul>
      <Largest entries={found.entries} />
    </div>
  );
}

function Largest({ entries }: { readonly entries: Attribution['entries'] }) {
  return (
    <table>
      <caption>The largest pieces</caption>
      <tbody>
        {[...entries]
          .sort((one, two) => two.tokens - one.tokens)
          .slice(0, 20)
          .map((entry, index) => (
            <tr key={index}>
              <td>{entry.kind}</td>
              <td>{entry.label}</td>
              <td class="number">{count(entry.tokens)}</td>
            </tr>
          ))}
      </tbody>
    </table>
  );
}

function useAttribution(client: Client, sessionId: string, revision: number): Attribution | null | undefined {
  const [found, setFound] = useState<Attribution | null>();
  useEffect(() => {
    client.call('session.metadata.getContextAttribution', { sessionId }).then(
      ({ contextAttribution }) => setFound(contextAttribution ?? null),
      () => setFound(null),
    );
  }, [client, sessionId, revision]);
  return found;
}
