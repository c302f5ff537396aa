import { emptyTranscript, foldTranscript, type SessionEvent, type Transcript } from '@groundcrew/sdk/browser';
import { emptyTimeline, foldTimeline, type Timeline } from './timeline.js';

/** All that is known of a session: its events, and what they fold to. */
export interface SessionView {
  /** Stored events in the order of the log; the same list grows. */
  readonly events: readonly SessionEvent[];
  readonly transcript: Transcript;
  readonly timeline: Timeline;
  readonly status: 'reading' | 'live' | 'deleted' | 'unreachable';
  /** Grows with every change. */
  readonly revision: number;
}

/** Nothing is known yet. */
export const emptyView: SessionView = {
  events: [],
  transcript: emptyTranscript,
  timeline: emptyTimeline,
  status: 'reading',
  revision: 0,
};

/** Follows a session from its first event on. Many events are one change: a screen is drawn no more often than it can be. */
export function followSession(sessionId: string, show: (view: SessionView) => void): () => void {
  const events: SessionEvent[] = [];
  let { transcript, timeline, status } = emptyView;
  let revision = 0;
  let isDue = false;
  const draw = () => {
    isDue = false;
    revision += 1;
    show({ events, transcript, timeline, status, revision });
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
    transcript = foldTranscript(transcript, event);
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
    ({ transcript, timeline } = emptyView);
    change();
  });
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) status = 'unreachable';
    change();
  };
  return () => source.close();
}
