import {
  type DurableType,
  type EphemeralType,
  type EventData,
  isDurable,
  type SessionEvent,
} from '@groundcrew/protocol';
import type { LogRecord, Owner, SessionStore, StoreError } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import { type Delta, DeltaFrames } from './delta-frames.js';
import { noteJson } from './entry.js';
import { reduce } from './fold.js';
import { headOf } from './head.js';
import type { NoteDraft } from './notes.js';
import { PublishedEvent } from './published-event.js';
import { replay } from './replay.js';
import { initialState, type SessionState } from './state.js';

/** An event that enters the log. */
export type EventDraft = {
  [K in DurableType]: { readonly type: K; readonly data: EventData<K>; readonly agentId?: string };
}[DurableType];

/** An event that is not stored: only clients that listen receive it. */
export type EphemeralDraft =
  | {
      [K in EphemeralType]: { readonly type: K; readonly data: EventData<K>; readonly agentId?: string };
    }[EphemeralType]
  | (EventDraft & { readonly ephemeral: true });

/** What a commit may hold; ephemeral events among it are published with it, in their place, and not stored. */
export type Draft = EventDraft | NoteDraft | EphemeralDraft;

/** What one tick appended: one operation of the store. */
interface Group {
  readonly records: LogRecord[];
  readonly published: Set<PublishedEvent>;
  state: SessionState;
  readonly done: Promise<void>;
  resolve(): void;
  reject(error: unknown): void;
}

/** Events to be published, in order; durable ones wait there until they are stored. */
interface Waiting {
  readonly published: PublishedEvent;
  ready: boolean;
}

/** The single writer of one session's log: it stores records, folds them, then publishes events, always in that order. */
export class SessionLog {
  /** What the stored log adds up to. */
  state: SessionState = initialState;
  /** Why nothing can be written: a record could not be read, and the state is what lies before it. */
  damage: StoreError | undefined;
  private epoch = 0;
  /** What the log will add up to once all that was appended is stored. */
  private ahead: SessionState = initialState;
  private group: Group | undefined;
  /** Handed to the store, in order, and not yet answered. */
  private readonly handedOver = new Set<Group>();
  private last: Promise<void> = Promise.resolve();
  private sinceSnapshot = 0;
  private readonly line: Waiting[] = [];
  private publishing: Promise<void> | undefined;
  private readonly frames: DeltaFrames;

  constructor(
    readonly sessionId: string,
    private readonly options: {
      readonly store: SessionStore;
      readonly clock: Clock;
      publish(published: PublishedEvent): void;
      /** A commit's events have all been published. */
      publishedAll(): void;
      /** Nothing of what was appended could be stored; callers that wait for it learn of it, too. */
      failed?(error: unknown): void;
    },
  ) {
    this.frames = new DeltaFrames(sessionId, options.clock);
  }

  /**
   * Makes the session with these first records. False when it is there already: then it is opened and nothing is written.
   * Nothing is published before `ready`; if that fails, the session is not there.
   */
  async create(
    { owner, ready }: { readonly owner: Owner; readonly ready: Promise<void> },
    ...drafts: readonly Draft[]
  ): Promise<boolean> {
    ready.catch(settleWaiters);
    const group = this.newGroup();
    this.fill(group, drafts);
    const create = { records: group.records, head: headOf(group.state) };
    const claim = await this.options.store.claim({ sessionId: this.sessionId, owner, create });
    this.epoch = claim.epoch;
    if (claim.isNew) {
      await ready.catch(async (error: unknown) => {
        await this.options.store.remove(this.sessionId);
        throw error;
      });
      this.committed(group);
      return true;
    }
    await ready;
    this.line.length = 0;
    await this.replay(claim.head.snapshotSeq);
    return false;
  }

  /** Takes the session over and folds its records; throws StoreError when there is none or another process works on it. */
  async open(owner: Owner, options: { readonly force?: boolean } = {}): Promise<void> {
    const claim = await this.options.store.claim({ sessionId: this.sessionId, owner, ...options });
    this.epoch = claim.epoch;
    await this.replay(claim.head.snapshotSeq).catch(async (error: unknown) => {
      await this.release();
      throw error;
    });
  }

  /** Under which claim it is written. */
  get claim(): { readonly sessionId: string; readonly epoch: number } {
    return { sessionId: this.sessionId, epoch: this.epoch };
  }

  /** Gives the session up, so that another process may have it. */
  async release(): Promise<void> {
    await this.options.store.release({ sessionId: this.sessionId, epoch: this.epoch });
  }

  /** Joins these to the next commit, all or nothing; nothing is published before it. */
  append(...drafts: readonly Draft[]): readonly SessionEvent[] {
    const group = this.group ?? this.openGroup();
    return this.fill(group, drafts);
  }

  /** Emits without storing, but never ahead of what was appended before. Returns the event's id. */
  emit(draft: EphemeralDraft): string {
    const id = this.options.clock.newId();
    this.pass(this.ephemeral(draft, id));
    return id;
  }

  /** The same for what a model streams, chunk by chunk. */
  emitDelta(delta: Delta, agentId?: string, parentToolCallId?: string): void {
    const { lastEventId: parentId } = this.ahead;
    this.pass(this.frames.delta(delta, { parentId, agentId, parentToolCallId }));
  }

  /** Resolves when all that was appended so far is stored; rejects when it could not be. */
  stored(): Promise<void> {
    return this.last;
  }

  /** Resolves when all that was appended so far has been published. */
  async published(): Promise<void> {
    await this.last;
    await this.publishing;
  }

  /** What the log adds up to with all that was appended, stored or not yet. */
  get latest(): SessionState {
    return this.ahead;
  }

  /** Bytes appended since the newest snapshot, more or less. */
  get unfolded(): number {
    return this.sinceSnapshot;
  }

  private async replay(snapshotSeq: number): Promise<void> {
    const { store } = this.options;
    const { state, damage } = await replay({ store, sessionId: this.sessionId, snapshotSeq });
    this.damage = damage;
    if (damage) await this.release();
    this.state = state;
    this.ahead = state;
  }

  private openGroup(): Group {
    const group = this.newGroup();
    group.done.catch(settleWaiters);
    this.last = group.done;
    this.group = group;
    // After all microtasks: what one step of the loop appends, between two waits for the world, is one group.
    process.nextTick(() => this.handOver());
    return group;
  }

  private newGroup(): Group {
    const { promise, resolve, reject } = withResolvers();
    return { records: [], published: new Set(), state: this.ahead, done: promise, resolve, reject };
  }

  private fill(group: Group, drafts: readonly Draft[]): readonly SessionEvent[] {
    const events: SessionEvent[] = [];
    for (const draft of drafts) {
      if ('note' in draft) this.addNote(group, draft);
      else if (isEphemeral(draft)) this.addEphemeral(group, draft);
      else events.push(this.addEvent(group, draft));
    }
    group.state = this.ahead;
    return events;
  }

  private addNote(group: Group, draft: NoteDraft): void {
    const seq = this.ahead.seq + 1;
    const json = noteJson(draft);
    group.records.push({ seq, isPublic: false, type: draft.note, json });
    this.sinceSnapshot = draft.note === 'snapshot' ? 0 : this.sinceSnapshot + json.length;
    this.ahead = reduce(this.ahead, { seq, ...draft });
  }

  private addEphemeral(group: Group, draft: EphemeralDraft): void {
    const published = this.ephemeral(draft, this.options.clock.newId());
    group.published.add(published);
    this.line.push({ published, ready: false });
  }

  private addEvent(group: Group, draft: EventDraft): SessionEvent {
    const seq = this.ahead.seq + 1;
    const event = this.seal(draft);
    const published = new PublishedEvent(this.sessionId, event.type, JSON.stringify(event), seq);
    group.records.push({ seq, isPublic: true, type: event.type, json: published.json });
    group.published.add(published);
    this.line.push({ published, ready: false });
    this.sinceSnapshot += published.json.length;
    this.ahead = reduce(this.ahead, { seq, event });
    return event;
  }

  private handOver(): void {
    const group = this.group;
    const first = group?.records[0];
    this.group = undefined;
    if (!group) return;
    if (!first) {
      // Nothing to store: it is published behind what is on its way to the store, and counts as stored with that.
      this.publishSoon(group);
      const before = [...this.handedOver].at(-1);
      (before?.done ?? Promise.resolve()).then(group.resolve, group.reject);
      return;
    }
    this.handedOver.add(group);
    if (this.damage) {
      this.failed(group, this.damage);
      return;
    }
    const request = {
      sessionId: this.sessionId,
      epoch: this.epoch,
      expectedSeq: first.seq - 1,
      records: group.records,
      head: headOf(group.state),
    };
    // mutation: publish before commit
    this.options.store.append(request).then(
      () => this.committed(group),
      (error: unknown) => this.failed(group, error),
    );
  }

  private committed(group: Group): void {
    this.handedOver.delete(group);
    this.state = group.state;
    this.publishSoon(group);
    group.resolve();
  }

  /** After the reply to callers that wait for the group: all microtasks run before the next tick, and both leave in one write. */
  private publishSoon(group: Group): void {
    for (const waiting of this.line) if (group.published.has(waiting.published)) waiting.ready = true;
    this.publishing ??= new Promise((resolve) => {
      process.nextTick(() => {
        this.publishing = undefined;
        this.publishReady();
        resolve();
      });
    });
  }

  /** Nothing of the group was written: it is discarded with all that was built upon it. */
  private failed(group: Group, error: unknown): void {
    if (!this.handedOver.has(group)) return;
    const lost = [...this.handedOver, ...(this.group ? [this.group] : [])];
    this.handedOver.clear();
    this.group = undefined;
    this.ahead = this.state;
    for (const each of lost) each.reject(error);
    const first = this.line.findIndex(({ published }) => lost.some((each) => each.published.has(published)));
    if (first >= 0) this.line.splice(first);
    this.publishReady();
    this.options.failed?.(error);
  }

  private publishReady(): void {
    const end = this.line.findIndex((waiting) => !waiting.ready);
    const ready = this.line.splice(0, end < 0 ? this.line.length : end);
    for (const { published } of ready) this.options.publish(published);
    if (ready.some(({ published }) => published.seq !== undefined)) this.options.publishedAll();
  }

  private seal(draft: EventDraft): SessionEvent {
    const { clock } = this.options;
    return {
      type: draft.type,
      data: draft.data,
      id: clock.newId(),
      timestamp: clock.timestamp(),
      parentId: this.ahead.lastEventId,
      ...(draft.agentId !== undefined && { agentId: draft.agentId }),
    } as SessionEvent;
  }

  private pass(published: PublishedEvent): void {
    if (this.line.length === 0) this.options.publish(published);
    else this.line.push({ published, ready: true });
  }

  private ephemeral({ type, data, agentId }: EphemeralDraft, id: string): PublishedEvent {
    const place = { parentId: this.ahead.lastEventId, agentId };
    return this.frames.ephemeral({ type, id, data: JSON.stringify(data) }, place);
  }
}

function isEphemeral(draft: EventDraft | EphemeralDraft): draft is EphemeralDraft {
  return 'ephemeral' in draft || !isDurable(draft.type);
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers(): { promise: Promise<void>; resolve(): void; reject(error: unknown): void } {
  let resolve = (): void => undefined;
  let reject = (_error: unknown): void => undefined;
  const promise = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/** Callers that wait for a failed commit learn of it; a group without callers must not end the process. */
const settleWaiters = (): undefined => undefined;
