import type { SessionEvent } from '@groundcrew/sdk/browser';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type DiffLine, lineDiff } from './line-diff.js';
import { VirtualList } from './virtual-list.js';
import { clock } from './words.js';

/** The exact request and answer of a model call; two requests side by side show what changed, and where the cache broke. */
export function Requests({
  sessionId,
  events,
  revision,
}: {
  readonly sessionId: string;
  readonly events: readonly SessionEvent[];
  readonly revision: number;
}) {
  const calls = useMemo(() => callsOf(events), [revision]);
  const [number, setNumber] = useState<number>();
  const [against, setAgainst] = useState<number>();
  const chosen = number ?? calls.length;
  const body = useRequest(sessionId, chosen);
  const other = useRequest(sessionId, against ?? 0);
  if (calls.length === 0) return <p class="empty">No model call yet.</p>;
  const options = calls.map((call, index) => (
    <option key={index} value={index + 1}>
      {index + 1} · {clock(call.at)}
    </option>
  ));
  const answer = calls[chosen - 1]?.answer;
  return (
    <div class="requests">
      <div class="bar">
        <label>
          Model call{' '}
          <select value={chosen} onChange={({ currentTarget }) => setNumber(Number(currentTarget.value))}>
            {options}
          </select>
        </label>
        <label>
          Compare with{' '}
          <select
            value={against ?? ''}
            onChange={({ currentTarget }) => setAgainst(Number(currentTarget.value) || undefined)}
          >
            <option value="">nothing</option>
            {options}
          </select>
        </label>
      </div>
      {against === undefined ? (
        <>
          <h2>Request</h2>
          <Lines lines={linesOf(body).map((text) => ({ type: 'same', text }))} label="Request" />
          <h2>Answer</h2>
          <pre class="answer" tabIndex={0}>
            {answer
              ? JSON.stringify(answer.data, null, 2)
              : 'None is stored: the call failed, was aborted or is under way.'}
          </pre>
        </>
      ) : (
        <Comparison before={other} after={body} />
      )}
    </div>
  );
}

interface Call {
  readonly at: string;
  readonly answer: SessionEvent | undefined;
}

function callsOf(events: readonly SessionEvent[]): readonly Call[] {
  const calls: Call[] = [];
  for (const event of events) {
    if (event.agentId !== undefined) continue;
    if (event.type === 'assistant.turn_start') calls.push({ at: event.timestamp, answer: undefined });
    const last = calls.at(-1);
    if (event.type === 'assistant.message' && last) calls[calls.length - 1] = { ...last, answer: event };
  }
  return calls;
}

function useRequest(sessionId: string, number: number): string {
  const [text, setText] = useState('');
  useEffect(() => {
    if (number < 1) return undefined;
    const stop = new AbortController();
    const url = `/requests?session=${encodeURIComponent(sessionId)}&turn=${number}`;
    fetch(url, { signal: stop.signal })
      .then((answer) => answer.text())
      .then(setText, () => undefined);
    return () => stop.abort();
  }, [sessionId, number]);
  return text;
}

function linesOf(body: string): readonly string[] {
  try {
    return JSON.stringify(JSON.parse(body), null, 2).split('\n');
  } catch {
    // What is no JSON is why there is no request.
    return body.split('\n');
  }
}

function Comparison({ before, after }: { readonly before: string; readonly after: string }) {
  const lines = useMemo(() => lineDiff(linesOf(before), linesOf(after)), [before, after]);
  const shared = sharedLength(before, after);
  const isAppended = shared >= before.length - closing;
  return (
    <>
      <p class="facts">
        <span>
          The first {shared.toLocaleString('en')} of {before.length.toLocaleString('en')} characters are the
          same:{' '}
          {isAppended
            ? 'all of it is the beginning of the other, and a cache can serve it.'
            : 'a cache breaks there.'}
        </span>
        <span>{lines.filter(({ type }) => type === 'added').length} lines added</span>
        <span>{lines.filter(({ type }) => type === 'removed').length} removed</span>
      </p>
      <Lines lines={folded(lines)} label="Differences" />
    </>
  );
}

const contextLines = 3;

/** Long stretches that are the same become one line. */
function folded(lines: readonly DiffLine[]): readonly DiffLine[] {
  const isNear = lines.map(() => false);
  lines.forEach(({ type }, index) => {
    if (type === 'same') return;
    for (let near = index - contextLines; near <= index + contextLines; near += 1)
      if (near in isNear) isNear[near] = true;
  });
  const shown: DiffLine[] = [];
  let hidden = 0;
  for (const [index, line] of lines.entries()) {
    if (!isNear[index]) {
      hidden += 1;
      continue;
    }
    if (hidden > 0) shown.push({ type: 'same', text: `⋯ ${hidden} lines are the same` });
    hidden = 0;
    shown.push(line);
  }
  return hidden > 0 ? [...shown, { type: 'same', text: `⋯ ${hidden} lines are the same` }] : shown;
}

/** Brackets and fields behind the messages, which every request has. */
const closing = 200;

function sharedLength(before: string, after: string): number {
  let index = 0;
  while (index < before.length && before[index] === after[index]) index += 1;
  return index;
}

function Lines({
  lines,
  label,
}: {
  readonly lines: readonly { readonly type: string; readonly text: string }[];
  readonly label: string;
}) {
  return (
    <VirtualList
      items={lines}
      rowHeight={20}
      label={label}
      row={({ type, text }) => <code class={`line ${type}`}>{text.slice(0, 4000)}</code>}
    />
  );
}
