import type { Draft, SessionLog } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';
import type { ReceivedPrompt } from '../turn/agent-context.js';

interface Admitted extends ReceivedPrompt {
  readonly stored: Promise<boolean>;
}

/** What of a prompt that waits may be said otherwise. */
type PromptChange = Partial<Pick<Prompt, 'text' | 'displayText' | 'attachments' | 'mode'>>;

/** The queue is full; the client may try again when a turn has ended. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';

  constructor(most: number) {
    super(`${most} prompts are waiting already; send again when some of them have been answered`);
  }
}

/** Prompts acknowledged but not yet seen by the model. What may not be stored of a prompt leaves with it. */
export class Inbox {
  private admitted: Admitted[] = [];
  private isPaused = false;
  /** Prompts of the queue get no turn; a word for the running turn does. */
  private isDrainPaused: boolean;

  constructor(
    private readonly log: SessionLog,
    private readonly most: number,
    /** What the model has to read of agents that have ended. */
    readonly takeNotices: () => readonly Draft[],
  ) {
    const { inbox, isQueuePaused = false } = log.state;
    this.admitted = inbox.map((prompt) => ({ prompt, extras: {}, stored: Promise.resolve(true) }));
    this.isDrainPaused = isQueuePaused;
  }

  /** Nothing may start a turn now. */
  get isEmpty(): boolean {
    return this.isPaused || !this.admitted.some(({ prompt }) => !this.holds(prompt));
  }

  get prompts(): readonly Prompt[] {
    return this.admitted.map(({ prompt }) => prompt);
  }

  /** Prompts that get turns of their own, the next one first: what clients see as the queue. */
  get queued(): readonly Prompt[] {
    return this.prompts.filter(isQueued);
  }

  /** Some prompt came with headers, which no other process could send. */
  get hasSecrets(): boolean {
    return this.admitted.some(({ extras }) => extras.requestHeaders !== undefined);
  }

  /** A client holds the queue, and prompts wait for that only. */
  get isHeld(): boolean {
    return this.isDrainPaused && this.queued.length > 0;
  }

  /** The prompt gets no turn until the queue goes on. */
  holds(prompt: Prompt): boolean {
    return this.isDrainPaused && isQueued(prompt);
  }

  /** Keeps what waits and starts nothing. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Holds the queue, or has it go on; false when it was so before. Resolves when that outlives the process. */
  async setDrainPaused(isPaused: boolean): Promise<boolean> {
    if (this.isDrainPaused === isPaused) return false;
    this.isDrainPaused = isPaused;
    this.log.append({ note: 'queue.paused', data: { isPaused } });
    await this.log.stored().catch((error: unknown) => {
      this.isDrainPaused = !isPaused;
      throw error;
    });
    return true;
  }

  /** Resolves when the prompt is safe; throws QueueFull. A prompt that could not be stored is not kept. */
  async admit(received: ReceivedPrompt, position = Number.POSITIVE_INFINITY): Promise<void> {
    const { prompt } = received;
    if (this.admitted.length >= this.most) throw new QueueFull(this.most);
    this.log.append({ note: 'prompt.admitted', data: prompt });
    const isLast = position >= this.queued.length;
    const stored = this.log.stored();
    const isStored = stored.then(
      () => true,
      () => false,
    );
    this.admitted.push({ ...received, stored: isStored });
    if (!isLast) this.place(prompt.messageId, position);
    this.log.emit({ type: 'pending_messages.modified', data: {} });
    await stored.catch((error: unknown) => {
      // Its headers may be secret, and are kept no longer than the prompt.
      this.admitted = this.admitted.filter((each) => each.prompt.messageId !== prompt.messageId);
      throw error;
    });
  }

  /** Moves a prompt to a place of the queue; false when it is there already, undefined when it does not wait. */
  async move(messageId: string, position: number): Promise<boolean | undefined> {
    const at = this.queued.findIndex((prompt) => prompt.messageId === messageId);
    if (at < 0) return undefined;
    const target = Math.min(Math.max(position, 0), this.queued.length - 1);
    if (target === at) return false;
    this.place(messageId, target);
    this.log.emit({ type: 'pending_messages.modified', data: {} });
    await this.log.stored();
    return true;
  }

  /** Puts a copy of a prompt behind it, under an id of its own; false when it does not wait. Throws QueueFull. */
  async duplicate(messageId: string, copyId: string): Promise<boolean> {
    const at = this.queued.findIndex((prompt) => prompt.messageId === messageId);
    const found = this.admitted.find(({ prompt }) => prompt.messageId === messageId);
    if (at < 0 || !found) return false;
    const { digest: _, isBegun: __, earlier, ...prompt } = found.prompt;
    const copies = earlier?.map((each, index) => ({ ...each, messageId: `${copyId}-${index}` }));
    const copy = { ...prompt, messageId: copyId, ...(copies && { earlier: copies }) };
    await this.admit({ prompt: copy, extras: found.extras }, at + 1);
    return true;
  }

  /** Changes a prompt that no turn has seen; false when none of these is there. */
  async extend(which: (prompt: Prompt) => boolean, more: (prompt: Prompt) => PromptChange): Promise<boolean> {
    const index = this.admitted.findIndex(({ prompt }) => which(prompt));
    const found = this.admitted[index];
    if (!found) return false;
    const change = { messageId: found.prompt.messageId, ...more(found.prompt) };
    this.log.append({ note: 'prompt.extended', data: change });
    const stored = this.log.stored();
    // A change that could not be stored takes nothing away from a prompt that was.
    const isStored = stored.then(
      () => found.stored,
      () => found.stored,
    );
    const changed = { ...found, prompt: { ...found.prompt, ...change }, stored: isStored };
    this.admitted[index] = changed;
    this.log.emit({ type: 'pending_messages.modified', data: {} });
    await stored.catch((error: unknown) => {
      this.admitted = this.admitted.map((each) => (each === changed ? found : each));
      throw error;
    });
    return true;
  }

  /** Prompts that join the running turn before its next model call. */
  async takeSteering(): Promise<readonly ReceivedPrompt[]> {
    const steering = this.admitted.filter(({ prompt }) => !isQueued(prompt));
    this.admitted = this.admitted.filter(({ prompt }) => isQueued(prompt));
    const stored = await Promise.all(steering.map((each) => each.stored));
    return steering.filter((_, index) => stored[index]);
  }

  /** These wait again, before all others; they are stored. */
  putBack(prompts: readonly ReceivedPrompt[]): void {
    if (prompts.length === 0) return;
    this.admitted.unshift(...prompts.map((each) => ({ ...each, stored: Promise.resolve(true) })));
  }

  /** The next prompt that gets a turn of its own. */
  async takeNext(): Promise<ReceivedPrompt | undefined> {
    for (;;) {
      const next = this.admitted.find(({ prompt }) => !this.holds(prompt));
      if (!next) return undefined;
      this.admitted = this.admitted.filter((each) => each !== next);
      if (await next.stored) return next;
    }
  }

  /** Takes back prompts that no turn has seen; they never become messages. */
  async withdraw(which: (prompt: Prompt) => boolean): Promise<readonly Prompt[]> {
    const gone = this.admitted.filter(({ prompt }) => which(prompt));
    if (gone.length === 0) return [];
    this.admitted = this.admitted.filter((each) => !gone.includes(each));
    this.log.append(
      ...gone.map(({ prompt }) => ({
        note: 'prompt.withdrawn' as const,
        data: { messageId: prompt.messageId },
      })),
    );
    this.log.emit({ type: 'pending_messages.modified', data: {} });
    await this.log.stored();
    return gone.map(({ prompt }) => prompt);
  }

  /** Joins the next commit. Prompts that are being taken up are not here any more, and stand before all of these. */
  private place(messageId: string, position: number): void {
    const moved = this.admitted.find(({ prompt }) => prompt.messageId === messageId);
    if (!moved) return;
    const others = this.admitted.filter((each) => each !== moved);
    const queue = others.filter(({ prompt }) => isQueued(prompt));
    const behind = queue[Math.max(position, 0)];
    const index = behind ? others.indexOf(behind) : others.length;
    this.admitted = others.toSpliced(index, 0, moved);
    const messageIds = this.prompts.map((prompt) => prompt.messageId);
    this.log.append({ note: 'queue.ordered', data: { messageIds } });
  }
}

function isQueued({ mode }: Prompt): boolean {
  return mode === 'enqueue';
}
