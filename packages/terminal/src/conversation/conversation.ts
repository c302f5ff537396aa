import {
  emptyTranscript,
  foldTranscript,
  type Session,
  type SessionEvent,
  type Transcript,
  type TranscriptWait,
  transcriptOf,
  waitsOf,
} from '@groundcrew/sdk';
import { Printer } from './printer.js';
import { WaitClock } from './wait-clock.js';

/** One row of the agent's todo list. */
export interface Todo {
  readonly title: string;
  readonly status: string;
}

/** What a session has used in all. */
export interface Spent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number | null;
}

/** One session on the screen: its transcript, and what no event carries. */
export class Conversation {
  transcript: Transcript = emptyTranscript;
  readonly printer: Printer;
  todos: readonly Todo[] = [];
  queue: readonly string[] = [];
  /** What was used before this screen was there. */
  earlier: Spent = { inputTokens: 0, outputTokens: 0, cost: 0 };
  mode = 'interactive';
  agent: string | undefined;
  session: Session | undefined;
  /** A prompt was sent that no event has shown yet. */
  isAwaited = false;
  /** Events that came before the log was read. */
  private early: SessionEvent[] | undefined = [];
  private readonly clock = new WaitClock();

  constructor(
    columns: () => number,
    private readonly onChange: () => void,
  ) {
    this.printer = new Printer(columns);
  }

  /** Called for each event, from the first on. */
  readonly receive = (event: SessionEvent): void => {
    if (this.early) {
      this.early.push(event);
      return;
    }
    this.fold(event);
    this.onChange();
  };

  /** Shows what the session has so far but for the items the terminal has `shown`, and goes on from there. */
  async attach(
    session: Session,
    options: { readonly isNew: boolean; readonly shown: number },
  ): Promise<void> {
    this.session = session;
    const stored = options.isNew ? [] : await session.getEvents();
    const isProcessing = options.isNew
      ? true
      : (await session.call('session.metadata.isProcessing')).processing;
    const known = new Set(stored.map(({ id }) => id));
    const early = this.early ?? [];
    this.early = undefined;
    this.transcript = transcriptOf(stored);
    for (const event of stored) this.clock.note(event);
    // What was shown may have been taken back since.
    this.printer.skip(Math.min(options.shown, this.transcript.main.items.length));
    if (!isProcessing) this.transcript = { ...this.transcript, isIdle: true };
    for (const event of early) if (!known.has(event.id)) this.fold(event);
    await this.readFacts();
    this.onChange();
  }

  /** A turn runs, or is about to. */
  get isBusy(): boolean {
    return !this.transcript.isIdle || this.isAwaited;
  }

  /** What it waits for, and since when. */
  waits(now: number): { readonly waits: readonly TranscriptWait[]; readonly seconds: number } {
    const waits = this.transcript.isIdle ? [] : waitsOf(this.transcript);
    return { waits, seconds: this.clock.seconds(waits[0], now) };
  }

  /** Reads what no event carries: queue, todos, mode, what was used. */
  async readFacts(): Promise<void> {
    const { session } = this;
    if (!session) return;
    const [mode, metrics, agent] = await Promise.all([
      session.call('session.mode.get').catch(() => undefined),
      session.call('session.usage.getMetrics').catch(() => undefined),
      session.call('session.agent.getCurrent').catch(() => undefined),
      this.readQueue(session),
      this.readTodos(session),
    ]);
    if (mode !== undefined) this.mode = mode;
    this.agent = agent?.agent?.displayName;
    const { usage } = this.transcript;
    if (metrics && usage.calls === 0) {
      const models = Object.values(metrics.modelMetrics);
      this.earlier = {
        inputTokens: models.reduce((sum, { usage: used }) => sum + used.inputTokens, 0),
        outputTokens: models.reduce((sum, { usage: used }) => sum + used.outputTokens, 0),
        cost: metrics.totalCost ?? null,
      };
    }
    this.onChange();
  }

  private fold(event: SessionEvent): void {
    this.transcript = foldTranscript(this.transcript, event);
    // The clock of a runtime elsewhere may be another one: what happens now has the time of this one.
    this.clock.note(event, Date.now());
    if (event.type === 'user.message' || event.type === 'session.idle') this.isAwaited = false;
    const { session } = this;
    if (!session) return;
    if (event.type === 'session.todos_changed') void this.readTodos(session);
    if (event.type === 'pending_messages.modified') void this.readQueue(session);
    if (event.type === 'session.mode_changed') this.mode = event.data.newMode;
  }

  private async readQueue(session: Session): Promise<void> {
    const found = await session.call('session.queue.pendingItems').catch(() => undefined);
    if (!found) return;
    this.queue = [
      ...found.steeringMessages.map((text) => `steering: ${text}`),
      ...found.items.map(({ displayText }) => displayText),
    ];
    this.onChange();
  }

  private async readTodos(session: Session): Promise<void> {
    const found = await session.call('session.plan.readSqlTodos').catch(() => undefined);
    if (!found) return;
    this.todos = found.rows.map(({ title = '', id = '', status = 'pending' }) => ({
      title: title || id,
      status,
    }));
    this.onChange();
  }
}
