import type { Transcript, TranscriptItem } from '@groundcrew/sdk/browser';
import { useState } from 'preact/hooks';

const mostShown = 200;

/** What was said and done, as the terminal shows it; all of it as text. */
export function Conversation({
  transcript,
  earlier,
}: {
  readonly transcript: Transcript;
  readonly earlier: readonly TranscriptItem[];
}) {
  const [most, setMost] = useState(mostShown);
  const { main, agents } = transcript;
  const total = earlier.length + main.items.length;
  const hidden = Math.max(0, total - most);
  const shown = [...earlier.slice(hidden), ...main.items.slice(Math.max(0, hidden - earlier.length))];
  return (
    <div class="conversation" tabIndex={0} role="region" aria-label="Conversation">
      {hidden > 0 && (
        <button type="button" onClick={() => setMost(most + mostShown)}>
          {hidden} earlier entries
        </button>
      )}
      {shown.map((item, index) => (
        <Item key={hidden + index} item={item} />
      ))}
      {main.streaming && <p class="item message streaming">{main.streaming.text || '…'}</p>}
      {agents.map((agent) => (
        <details key={agent.id} class="agent">
          <summary>
            {agent.displayName ?? agent.name ?? agent.id} <span class="badge">{agent.state}</span>
          </summary>
          {agent.items.map((item, index) => (
            <Item key={index} item={item} />
          ))}
        </details>
      ))}
    </div>
  );
}

function Item({ item }: { readonly item: TranscriptItem }) {
  if (item.type !== 'tool')
    return (
      <div class={`item ${item.type} ${item.type === 'notice' ? item.level : ''}`}>
        {item.type === 'message' && item.reasoning && (
          <details>
            <summary>reasoning</summary>
            <p>{item.reasoning}</p>
          </details>
        )}
        <p>{item.text}</p>
      </div>
    );
  return (
    <details class={`item tool ${item.state}`}>
      <summary>
        <code>{item.name}</code> {item.display} <span class={`badge ${item.state}`}>{item.state}</span>
      </summary>
      <pre>{JSON.stringify(item.arguments, null, 2)}</pre>
      {(item.details ?? item.output) && <pre>{item.details ?? item.output}</pre>}
      {item.error && <pre class="bad">{item.error}</pre>}
    </details>
  );
}
