const closingPatience = 2_000;

/** Work that is never done twice at once: what is asked for while it runs is done when it has ended. */
export class RepeatedWork {
  #running: Promise<void> | undefined;
  #isAsked = false;
  #isClosed = false;

  /** `work` looks at `isClosed` between its steps. */
  constructor(private readonly work: () => Promise<void>) {}

  /** No further step is to begin. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Resolves when the work was done that was there before the call; rejects with what it throws. */
  run(): Promise<void> {
    this.#isAsked = true;
    this.#running ??= this.#workOff();
    return this.#running;
  }

  /** Gives what is under way a little time, then ends it after the step at hand. */
  async close(): Promise<void> {
    const late = setTimeout(() => {
      this.#isClosed = true;
    }, closingPatience);
    await this.#running?.catch(() => undefined);
    clearTimeout(late);
    this.#isClosed = true;
  }

  async #workOff(): Promise<void> {
    try {
      while (this.#isAsked && !this.#isClosed) {
        this.#isAsked = false;
        await this.work();
      }
    } finally {
      // In the same breath as the last look: later, a call would join work that has ended.
      this.#running = undefined;
    }
  }
}
