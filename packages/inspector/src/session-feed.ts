import {
  emptyTranscript,
  foldTranscript,
  type SessionEvent,
  type Transcript,
  type TranscriptItem,
} from '@groundcrew/sdk/browser';
import { emptyTimeline, foldTimeline, type Timeline } from './timeline.js';

/** All that is known of a session: its events, and what they fold to. */
export interface SessionView {
  /** Stored events in the order of the log; the same list grows. */
  readonly events: readonly SessionEvent[];
  readonly transcript: Transcript;
  /** Entries of the main agent before those of the transcript, which keeps the newest; the same list grows. */
  readonly earlier: readonly TranscriptItem[];
  readonly timeline: Timeline;
  readonly status: 'reading' | 'live' | 'deleted' | 'unreachable';
  /** Grows with every change. */
  readonly revision: number;
}

/** Nothing is known yet. */
export const emptyView: SessionView = {
  events: [],
  transcript: emptyTranscript,
  earlier: [],
  timeline: emptyTimeline,
  status: 'reading',
  revision: 0,
};

/** Follows a session from its first event on. Many events are one change: a screen is drawn no more often than it can be. */
export function followSession(sessionId: string, show: (view: SessionView) => void): () => void {
  const events: SessionEvent[] = [];
  const earlier: TranscriptItem[] = [];
  let { transcript, timeline, status } = emptyView;
  let revision = 0;
  let isDue = false;
  const draw = () => {
    isDue = false;
    revision += 1;
    show({ events, earlier, transcript, timeline, status, revision });
  };
  const change = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(draw, 50);
  };
  const source = new EventSource(`/events?session=${encodeURIComponent(sessionId)}&ephemeral=1`);
  source.onmessage = ({ data }) => {
    const event = JSON.parse(data as string) as SessionEvent;
    if (!event.ephemeral) events.push(event);
    transcript = withNewest(foldTranscript(transcript, event), earlier);
    timeline = foldTimeline(timeline, event);
    status = 'live';
    change();
  };
  source.addEventListener('deleted', () => {
    status = 'deleted';
    source.close();
    change();
  });
  source.addEventListener('expired', () => {
    events.length = 0;
    earlier.length = 0;
    ({ transcript, timeline } = emptyView);
    change();
  });
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) status = 'unreachable';
    change();
  };
  return () => source.close();
}

const mostItems = 2000;
const keptItems = 1000;

/** A fold copies its list with every entry: the oldest of a long one are put aside. */
function withNewest(transcript: Transcript, earlier: TranscriptItem[]): Transcript {
  const { items } = transcript.main;
  if (items.length <= mostItems) return transcript;
  earlier.push(...items.slice(0, -keptItems));
  return { ...transcript, main: { ...transcript.main, items: items.slice(-keptItems) } };
}
