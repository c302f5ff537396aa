import type { Client, Methods, Result } from '@groundcrew/sdk/browser';
import { useEffect, useState } from 'preact/hooks';
import { count } from './format.js';
import { readRequest } from './read-request.js';
import { requestParts } from './request-parts.js';
import type { Use } from './stored-usage.js';

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

/** What the picture shows; an attribution of the runtime, or the same from the last request that is stored. */
type Picture = Pick<Attribution, 'totalTokens' | 'limit' | 'modelId'> & {
  readonly categories: Partial<Attribution['categories']>;
  readonly entries: readonly { readonly kind: string; readonly label: string; readonly tokens: number }[];
  readonly note: string;
};

/** What fills the window of the model, as one stacked bar and a list of the largest pieces. */
export function ContextPicture(given: {
  readonly client: Client;
  readonly sessionId: string;
  readonly uses: readonly Use[];
  readonly revision: string;
}) {
  const found = usePicture(given);
  if (found === undefined) return <p class="empty">Reading…</p>;
  if (found === null) return <p class="empty">No model call yet: nothing fills the window.</p>;
  const total = Math.max(1, found.limit);
  const parts = Object.entries(names).flatMap(([key, name]) => {
    const tokens = found.categories[key as keyof Attribution['categories']];
    return tokens === undefined ? [] : [{ key, name, tokens }];
  });
  return (
    <div class="context" role="region" aria-label="Context" tabIndex={0}>
      <p class="facts">
        <span>
          {count(found.totalTokens)}
          {found.limit === found.totalTokens ? '' : ` of ${count(found.limit)}`} tokens
        </span>
        <span>{found.modelId}</span>
        <span>{found.note}</span>
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

function Largest({ entries }: Pick<Picture, 'entries'>) {
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

function usePicture({
  client,
  sessionId,
  uses,
  revision,
}: Parameters<typeof ContextPicture>[0]): Picture | null | undefined {
  const [found, setFound] = useState<Picture | null>();
  useEffect(() => {
    const stop = new AbortController();
    const show = (picture: Picture | null) => {
      if (!stop.signal.aborted) setFound(picture);
    };
    const last = uses.findLast(({ agentId, eventId }) => agentId === undefined && eventId !== undefined);
    liveAttribution(client, sessionId)
      .then((live) => live ?? storedPicture(sessionId, last, stop.signal))
      .then(show, () => show(null));
    return () => stop.abort();
  }, [client, sessionId, revision]);
  return found;
}

/** Undefined of a session that is open nowhere. */
async function liveAttribution(client: Client, sessionId: string): Promise<Picture | undefined> {
  try {
    const { contextAttribution: live } = await client.call('session.metadata.getContextAttribution', {
      sessionId,
    });
    return live ? { ...live, note: `${live.compactions.count} compactions` } : undefined;
  } catch {
    // It is not open: what is stored is shown.
    return undefined;
  }
}

/** What its service counted, in the shares of the characters of the request. */
async function storedPicture(
  sessionId: string,
  last: Use | undefined,
  signal: AbortSignal,
): Promise<Picture | null> {
  if (last?.eventId === undefined) return null;
  const parts = requestParts(await readRequest(sessionId, last.eventId, signal));
  if (!parts) return null;
  const all = Math.max(1, parts.systemPrompt + parts.systemTools + parts.messages);
  const share = (characters: number) => Math.round((characters / all) * last.inputTokens);
  return {
    totalTokens: last.inputTokens,
    limit: last.inputTokens,
    modelId: last.model,
    categories: {
      systemPrompt: share(parts.systemPrompt),
      systemTools: share(parts.systemTools),
      messages: share(parts.messages),
    },
    entries: parts.pieces.map(({ kind, label, characters }) => ({ kind, label, tokens: share(characters) })),
    note: 'of the last request that is stored; its parts by their length',
  };
}
