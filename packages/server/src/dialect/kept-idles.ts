/** An event that a client is sent; one that is stored has its place in the log. */
export interface SentEvent {
  readonly type: string;
  readonly json: string;
  readonly seq?: number | undefined;
}

/** An event that is not stored, and the record that it came after. */
export interface KeptIdle {
  readonly after: number;
  readonly json: string;
}

interface KeptSession {
  lastSeq: number;
  idles: KeptIdle[];
}

const mostSessions = 1000;
const mostIdles = 100;

/** The `session.idle` events that a client was sent. Releases of protocol 2 look for them in the history, where none are. */
export class KeptIdles {
  private readonly sessions = new Map<string, KeptSession>();

  note(sessionId: string, { type, seq, json }: SentEvent): void {
    const session = this.sessionOf(sessionId);
    if (seq !== undefined) session.lastSeq = seq;
    else if (type === 'session.idle')
      session.idles = [...session.idles.slice(1 - mostIdles), { after: session.lastSeq, json }];
  }

  /** Those of a session, in the order they were sent. */
  of(sessionId: string): readonly KeptIdle[] {
    return this.sessions.get(sessionId)?.idles ?? [];
  }

  private sessionOf(sessionId: string): KeptSession {
    const known = this.sessions.get(sessionId);
    if (known) return known;
    const [oldest] = this.sessions.keys();
    if (this.sessions.size >= mostSessions && oldest !== undefined) this.sessions.delete(oldest);
    const made: KeptSession = { lastSeq: 0, idles: [] };
    this.sessions.set(sessionId, made);
    return made;
  }
}
