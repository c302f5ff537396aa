import type { Draft, SessionLog } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';
import type { ReceivedPrompt } from '../turn/context.js';

interface Admitted extends ReceivedPrompt {
  readonly stored: Promise<boolean>;
}

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

  constructor(
    private readonly log: SessionLog,
    private readonly most: number,
    /** What the model has to read of agents that have ended. */
    readonly takeNotices: () => readonly Draft[],
  ) {
    const { inbox } = log.state;
    this.admitted = inbox.map((prompt) => ({ prompt, extras: {}, stored: Promise.resolve(true) }));
  }

  /** Nothing may start a turn now. */
  get isEmpty(): boolean {
    return this.isPaused || this.admitted.length === 0;
  }

  get prompts(): readonly Prompt[] {
    return this.admitted.map(({ prompt }) => prompt);
  }

  /** Some prompt came with headers, which no other process could send. */
  get hasSecrets(): boolean {
    return this.admitted.some(({ extras }) => extras.requestHeaders !== undefined);
  }

  /** Keeps what waits and starts nothing. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Resolves when the prompt is safe; throws QueueFull. A prompt that could not be stored is not kept. */
  async admit({ prompt, extras }: ReceivedPrompt): Promise<void> {
    if (this.admitted.length >= this.most) throw new QueueFull(this.most);
    this.log.append({ note: 'prompt.admitted', data: prompt });
    const stored = this.log.stored();
    this.admitted.push({
      prompt,
      extras,
      stored: stored.then(
        () => true,
        () => false,
      ),
    });
    await stored.catch((error: unknown) => {
      // Its headers may be secret, and are kept no longer than the prompt.
      this.admitted = this.admitted.filter((each) => each.prompt !== prompt);
      throw error;
    });
  }

  /** Says more in a prompt that no turn has seen; false when none of these is there. */
  async extend(
    which: (prompt: Prompt) => boolean,
    more: (prompt: Prompt) => Pick<Prompt, 'text' | 'displayText' | 'attachments'>,
  ): Promise<boolean> {
    const index = this.admitted.findIndex(({ prompt }) => which(prompt));
    const found = this.admitted[index];
    if (!found) return false;
    const change = { messageId: found.prompt.messageId, ...more(found.prompt) };
    this.log.append({ note: 'prompt.extended', data: change });
    const stored = this.log.stored();
    const isStored = stored.then(
      () => found.stored,
      () => false,
    );
    this.admitted[index] = { ...found, prompt: { ...found.prompt, ...change }, stored: isStored };
    await stored;
    return true;
  }

  /** Prompts that join the running turn before its next model call. */
  async takeSteering(): Promise<readonly ReceivedPrompt[]> {
    const steering = this.admitted.filter(({ prompt }) => prompt.mode === 'immediate');
    this.admitted = this.admitted.filter(({ prompt }) => prompt.mode !== 'immediate');
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
      const next = this.admitted.shift();
      if (!next) return undefined;
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
    await this.log.stored();
    return gone.map(({ prompt }) => prompt);
  }
}
