/** What a watch needs to know, and what it does. */
export interface ParentWatchOptions {
  /** Milliseconds without a client, after which an orphan ends. */
  readonly patience: number;
  /** Whether the process that started this one is gone. */
  isOrphan(): boolean;
  end(): void;
}

/** Milliseconds between two looks at the parent, once the patience is over. */
const interval = 1_000;

/** Ends a runtime that a client started on a port, when that client's process is gone and no other is connected. */
export class ParentWatch {
  private clients = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly options: ParentWatchOptions) {
    this.wait(options.patience);
  }

  /** Keeps the runtime while `client` lasts. */
  async during(client: Promise<void>): Promise<void> {
    this.clients += 1;
    clearTimeout(this.timer);
    try {
      await client;
    } finally {
      this.clients -= 1;
      if (this.clients === 0) this.wait(this.options.patience);
    }
  }

  private wait(milliseconds: number): void {
    this.timer = setTimeout(() => {
      if (this.options.isOrphan()) this.options.end();
      else this.wait(interval);
    }, milliseconds).unref();
  }
}

/** Says whether the process that started this one is gone. */
export function parentIsGone(): () => boolean {
  const parent = process.ppid;
  return () => process.ppid !== parent || !isThere(parent);
}

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // another user's, and there
  }
}
