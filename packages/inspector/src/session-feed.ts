import {
  type Client,
  emptyTranscript,
  foldTranscript,
  type SessionEvent,
  type Transcript,
  type TranscriptItem,
} from '@groundcrew/sdk/browser';
import { StoredUses, type Use } from './stored-usage.js';
import { foldTurns, type Turn } from './timeline.js';

/** All that is known of a session: its events, and what they fold to. */
export interface SessionView {
  /** Stored events in the order of the log; the same list grows. */
  readonly events: readonly SessionEvent[];
  readonly transcript: Transcript;
  /** Entries of the main agent before those of the transcript, which keeps the newest; the same list grows. */
  readonly earlier: readonly TranscriptItem[];
  /** Prompts and what followed from each; the same list grows. */
  readonly turns: readonly Turn[];
  /** What model calls took, as the store says it; the same list grows. */
  readonly uses: readonly Use[];
  readonly status: 'reading' | 'live' | 'deleted' | 'unreachable';
  /** Grows with every change. */
  readonly revision: number;
}

/** Nothing is known yet. */
export const emptyView: SessionView = {
  events: [],
  transcript: emptyTranscript,
  earlier: [],
  turns: [],
  uses: [],
  status: 'reading',
  revision: 0,
};

/** A session that is followed. */
export interface Following {
  /** Looks for open questions that were asked before anybody read along: they are in no log. */
  lookForQuestions(): void;
  close(): void;
}

/** Follows a session from its first event on. Many events are one change: a screen is drawn no more often than it can be. */
export function followSession(
  client: Client,
  sessionId: string,
  show: (view: SessionView) => void,
): Following {
  let revision = 0;
  const draw = (view: Omit<SessionView, 'revision'>) => {
    revision += 1;
    show({ ...view, revision });
  };
  // A feed that starts again receives the same events once more; they are heeded once.
  const heeded = new Set<string>();
  const open = () => new Feed({ client, sessionId, heeded, show: draw, startAgain });
  function startAgain(): void {
    feed.close();
    feed = open();
  }
  let feed = open();
  return { close: () => feed.close(), lookForQuestions: () => void feed.lookForQuestions() };
}

interface FeedParts {
  readonly client: Client;
  readonly sessionId: string;
  /** The rewinds for which it was read anew already. */
  readonly heeded: Set<string>;
  show(view: Omit<SessionView, 'revision'>): void;
  /** What was read is not the session any more. */
  startAgain(): void;
}

class Feed {
  private readonly events: SessionEvent[] = [];
  private readonly earlier: TranscriptItem[] = [];
  private readonly turns: Turn[] = [];
  private transcript = emptyTranscript;
  private status = emptyView.status;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly uses: StoredUses;
  private readonly source: EventSource;

  constructor(private readonly parts: FeedParts) {
    const { sessionId } = parts;
    this.uses = new StoredUses(sessionId, () => this.change());
    this.source = new EventSource(`/events?session=${encodeURIComponent(sessionId)}&ephemeral=1`);
    this.source.onmessage = ({ data }) => this.receive(JSON.parse(data as string) as SessionEvent);
    this.source.addEventListener('deleted', () => {
      this.source.close();
      this.change('deleted');
    });
    this.source.addEventListener('expired', () => parts.startAgain());
    this.source.onerror = () => {
      this.change(this.source.readyState === EventSource.CLOSED ? 'unreachable' : this.status);
    };
  }

  async lookForQuestions(): Promise<void> {
    const { client, sessionId } = this.parts;
    const { items } = await client
      .call('session.questions.pending', { sessionId })
      // It is open nowhere: its questions are put again when it is opened.
      .catch(() => ({ items: [] }));
    for (const { kind, requestId, data } of items) {
      if (this.transcript.questions.some((known) => known.requestId === requestId)) continue;
      // Each kind comes with the data of the event that asked it.
      const asked = { type: requestedBy[kind], ephemeral: true, data, timestamp: '' };
      this.transcript = foldTranscript(this.transcript, asked as unknown as SessionEvent);
      this.change();
    }
  }

  close(): void {
    this.source.close();
    this.uses.close();
    clearTimeout(this.timer);
  }

  private receive(event: SessionEvent): void {
    // Events that were shown have been cut off.
    if (event.type === 'session.snapshot_rewind') {
      if (this.parts.heeded.has(event.id)) return;
      this.parts.heeded.add(event.id);
      this.parts.startAgain();
      return;
    }
    if (!event.ephemeral) this.events.push(event);
    this.transcript = withNewest(foldTranscript(this.transcript, event), this.earlier);
    foldTurns(this.turns, event);
    if (settling.has(event.type)) this.uses.look();
    this.change('live');
  }

  private change(status = this.status): void {
    this.status = status;
    this.timer ??= setTimeout(() => this.draw(), 50);
  }

  private draw(): void {
    this.timer = undefined;
    const { events, earlier, transcript, turns, status } = this;
    this.parts.show({ events, earlier, transcript, turns, uses: this.uses.uses, status });
  }
}

const requestedBy: Readonly<Record<string, string>> = {
  permission: 'permission.requested',
  external_tool: 'external_tool.requested',
  user_input: 'user_input.requested',
  elicitation: 'elicitation.requested',
  exit_plan_mode: 'exit_plan_mode.requested',
  auto_mode_switch: 'auto_mode_switch.requested',
  session_limits: 'session_limits_exhausted.requested',
};

/** Events after which a model call has been settled. */
const settling: ReadonlySet<string> = new Set([
  'assistant.message',
  'session.compaction_complete',
  'assistant.usage',
]);

const mostItems = 2000;
const keptItems = 1000;

/** A fold copies its list with every entry: the oldest of a long one are put aside. */
function withNewest(transcript: Transcript, earlier: TranscriptItem[]): Transcript {
  const { items } = transcript.main;
  if (items.length <= mostItems) return transcript;
  earlier.push(...items.slice(0, -keptItems));
  return { ...transcript, main: { ...transcript.main, items: items.slice(-keptItems) } };
}
