import type { EventOf, Session, SessionEvent } from '@groundcrew/sdk';
import type { EventComparison } from './event-comparison.js';
import type { ModelStage } from './playback-model.js';
import type { ToolStage } from './playback-tools.js';
import { isCompared, isSwitch, type RecordedOutcome, type Recording } from './recording.js';

/** Does what users and clients did: prompts, changes and stops, each where it was recorded. */
export class PlaybackInputs implements ModelStage, ToolStage {
  private session: Session | undefined;
  private isIdle = true;
  private hasAborted = false;
  private isLimited = false;
  /** Models that were chosen again. */
  private readonly chosen = new Set<SessionEvent>();
  private emitIdle: () => void = () => undefined;

  constructor(
    private readonly recording: Recording,
    private readonly comparison: EventComparison,
  ) {}

  /** Plays from the first prompt to the last event. */
  async play(session: Session): Promise<void> {
    this.session = session;
    for (const [place, event] of this.recording.events.entries()) await this.act(session, place, event);
    await this.comparison.reached(this.recording.events.length);
    if (!this.recording.endsOpen) await this.idle();
  }

  /** Receives the events of the session. */
  receive(event: SessionEvent): void {
    if (event.type === 'user.message') this.isIdle = false;
    if (event.type === 'session.idle') {
      this.isIdle = true;
      this.emitIdle();
    }
    if (isCompared(event)) this.comparison.receive(event);
  }

  /** What users said of a model that was rate limited. */
  get switchAnswer(): 'yes' | 'no' {
    return this.isLimited ? 'yes' : 'no';
  }

  reached(place: number): Promise<void> {
    return this.comparison.reached(place);
  }

  /** Prompts that came while a turn ran are sent before the answer that they came after. */
  async ready(outcome: RecordedOutcome): Promise<void> {
    await this.comparison.reached(outcome.place);
    this.isLimited = outcome.type === 'limit';
    const { events, outcomes } = this.recording;
    const next = outcomes[outcomes.indexOf(outcome) + 1]?.place ?? events.length;
    const meanwhile = events.slice(outcome.place, next);
    const isBusy = meanwhile.some((event) => event.type === 'user.message' && !isFirst(event));
    for (const event of meanwhile) {
      if (event.type === 'user.message' && !isFirst(event)) await this.send(event);
      if (isBusy && isChoice(event)) await this.choose(event);
    }
  }

  abort(reason: EventOf<'abort'>['data']['reason']): void {
    if (this.hasAborted) return;
    this.hasAborted = true;
    // The stop arrives as an event; whether its request is answered does not matter.
    this.session?.call('session.abort', { reason }).then(
      () => this.clearAbort(),
      () => this.clearAbort(),
    );
  }

  unfinished(): void {
    const { events } = this.recording;
    const place = events.findIndex(
      (event, index) => event.type === 'abort' && index >= this.comparison.agreed,
    );
    const event = events[place];
    if (event?.type !== 'abort') return;
    const { reason } = event.data;
    this.comparison.reached(place).then(
      () => this.abort(reason),
      () => undefined,
    );
  }

  private clearAbort(): void {
    this.hasAborted = false;
  }

  private async act(session: Session, place: number, event: SessionEvent): Promise<void> {
    if (isChoice(event)) {
      await this.comparison.reached(place);
      if (!this.chosen.has(event)) await this.choose(event);
    }
    if (event.type === 'session.mode_changed') {
      await this.comparison.reached(place);
      await session.call('session.mode.set', { mode: event.data.newMode });
    }
    if (event.type === 'user.message' && isFirst(event)) {
      const before = this.recording.events[place - 1];
      await this.comparison.reached(before && isOpening(before) ? place - 1 : place);
      await this.idle();
      await this.send(event);
    }
  }

  private async choose(event: EventOf<'session.model_change'>): Promise<void> {
    this.chosen.add(event);
    const { newModel, reasoningEffort } = event.data;
    await this.session?.setModel(newModel, reasoningEffort ? { reasoningEffort } : {});
  }

  private async send({ data }: EventOf<'user.message'>): Promise<void> {
    const { content, messageId, delivery, agentMode, attachments } = data;
    await this.session?.send({
      prompt: content,
      ...(messageId !== undefined && { messageId }),
      ...(delivery === 'steering' && { mode: 'immediate' as const }),
      ...(agentMode !== undefined && { agentMode }),
      ...(attachments && { attachments }),
    });
  }

  private async idle(): Promise<void> {
    if (this.isIdle) return;
    await new Promise<void>((resolve) => {
      this.emitIdle = resolve;
    });
  }
}

/** Whether a client chose the model. */
function isChoice(event: SessionEvent): event is EventOf<'session.model_change'> {
  return event.type === 'session.model_change' && !isOpening(event) && !isSwitch(event);
}

/** The first turn names its model when none was set. */
function isOpening(event: SessionEvent): boolean {
  return event.type === 'session.model_change' && event.data.source === 'startup';
}

/** Whether the prompt found the session idle. */
function isFirst({ data }: EventOf<'user.message'>): boolean {
  return data.delivery === undefined || data.delivery === 'idle';
}
