import type { SessionLog } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';

interface Admitted {
  readonly prompt: Prompt;
  readonly stored: Promise<boolean>;
}

/** The queue is full; the client may try again when a turn has ended. */
export class QueueFull extends Error {
  override readonly name = 'QueueFull';
}

/** Prompts acknowledged but not yet seen by the model. */
export class Inbox {
  private admitted: Admitted[] = [];
  private isPaused = false;

  constructor(
    private readonly log: SessionLog,
    prompts: readonly Prompt[],
  ) {
    this.admitted = prompts.map((prompt) => ({ prompt, stored: Promise.resolve(true) }));
  }

  /** Nothing may start a turn now. */
  get isEmpty(): boolean {
    return this.isPaused || this.admitted.length === 0;
  }

  get prompts(): readonly Prompt[] {
    return this.admitted.map(({ prompt }) => prompt);
  }

  /** Keeps what waits and starts nothing. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  /** Resolves when the prompt is safe; rejects, and forgets it, when it could not be stored. */
  async admit(prompt: Prompt): Promise<void> {
    this.log.append({ note: 'prompt.admitted', data: prompt });
    const stored = this.log.stored();
    this.admitted.push({
      prompt,
      stored: stored.then(
        () => true,
        () => false,
      ),
    });
    await stored;
  }

  /** Prompts that join the running turn before its next model call. */
  async takeSteering(): Promise<readonly Prompt[]> {
    const steering = this.admitted.filter(({ prompt }) => prompt.mode === 'immediate');
    this.admitted = this.admitted.filter(({ prompt }) => prompt.mode !== 'immediate');
    const stored = await Promise.all(steering.map((each) => each.stored));
    return steering.filter((_, index) => stored[index]).map(({ prompt }) => prompt);
  }

  /** The next prompt that gets a turn of its own. */
  async takeNext(): Promise<Prompt | undefined> {
    for (;;) {
      const next = this.admitted.shift();
      if (!next) return undefined;
      if (await next.stored) return next.prompt;
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
