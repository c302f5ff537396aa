import type { SessionEvent } from '@groundcrew/sdk/browser';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { clock } from './format.js';
import { type DiffLine, lineDiff } from './line-diff.js';
import { readRequest } from './read-request.js';
import { VirtualList } from './virtual-list.js';

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
  const body = useRequest(sessionId, calls[chosen - 1]?.eventId);
  const other = useRequest(sessionId, against === undefined ? undefined : calls[against - 1]?.eventId);
  if (calls.length === 0) return <p class="empty">No model call yet.</p>;
  const options = calls.map((call, index) => (
    <option key={index} value={index + 1}>
      {index + 1} · {clock(call.at)}
      {call.agent === undefined ? '' : ` · ${call.agent}`}
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
  /** The event that began it: by it the request is found. */
  readonly eventId: string;
  readonly at: string;
  /** The sub-agent that made it. */
  readonly agent: string | undefined;
  readonly answer: SessionEvent | undefined;
}

function callsOf(events: readonly SessionEvent[]): readonly Call[] {
  const calls: Call[] = [];
  const last = new Map<string | undefined, number>();
  const names = new Map<string, string>();
  for (const event of events) {
    const { agentId } = event;
    if (event.type === 'subagent.started' && agentId !== undefined)
      names.set(agentId, event.data.agentDisplayName || event.data.agentName);
    if (event.type === 'assistant.turn_start') {
      const agent = agentId === undefined ? undefined : (names.get(agentId) ?? agentId);
      last.set(agentId, calls.push({ eventId: event.id, at: event.timestamp, agent, answer: undefined }) - 1);
    }
    const place = last.get(agentId) ?? -1;
    const call = calls[place];
    if (event.type === 'assistant.message' && call) calls[place] = { ...call, answer: event };
  }
  return calls;
}

function useRequest(sessionId: string, eventId: string | undefined): string {
  const [text, setText] = useState('');
  useEffect(() => {
    if (eventId === undefined) return undefined;
    const stop = new AbortController();
    readRequest(sessionId, eventId, stop.signal).then(setText, (error: Error) => {
      if (!stop.signal.aborted) setText(error.message);
    });
    return () => stop.abort();
  }, [sessionId, eventId]);
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
