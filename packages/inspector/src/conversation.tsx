import { type Transcript, type TranscriptItem, toolSubject } from '@groundcrew/sdk/browser';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { DiffLines, isDiff } from './diff-lines.js';
import { Markdown } from './markdown-view.js';

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
  const { box, isAtEnd } = useEnd(transcript);
  return (
    <div
      class="conversation"
      ref={box}
      onScroll={isAtEnd}
      tabIndex={0}
      role="region"
      aria-label="Conversation"
    >
      {hidden > 0 && (
        <button type="button" onClick={() => setMost(most + mostShown)}>
          {hidden} earlier entries
        </button>
      )}
      {shown.map((item, index) => (
        <Item key={hidden + index} item={item} />
      ))}
      {main.streaming && (
        <div class="item message streaming">
          <Markdown text={main.streaming.text || '…'} />
        </div>
      )}
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

/** What comes is seen as it comes, until the user scrolls away from the end. */
function useEnd(shown: unknown) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const isAtEnd = () => {
    const { current } = box;
    if (current) follows.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearEnd;
  };
  useLayoutEffect(() => {
    if (follows.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [shown]);
  return { box, isAtEnd };
}

const nearEnd = 40;
const longestSubject = 300;

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
        {item.type === 'message' ? <Markdown text={item.text} /> : <p>{item.text}</p>}
      </div>
    );
  const shown = item.details ?? item.output ?? '';
  return (
    <details class={`item tool ${item.state}`} open={isDiff(shown)}>
      <summary>
        <code>{item.name}</code> <span class="subject">{toolSubject(item).slice(0, longestSubject)}</span>{' '}
        <span class={`badge ${item.state}`}>{item.state}</span>
      </summary>
      <pre tabIndex={0}>{JSON.stringify(item.arguments, null, 2)}</pre>
      <Output text={shown} />
      {item.error && (
        <pre class="bad" tabIndex={0}>
          {item.error}
        </pre>
      )}
    </details>
  );
}

function Output({ text }: { readonly text: string }) {
  if (text === '') return null;
  return isDiff(text) ? <DiffLines diff={text} /> : <pre tabIndex={0}>{text}</pre>;
}
