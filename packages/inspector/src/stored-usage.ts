/** What one model call took, as the store says it. */
export interface Use {
  readonly at: string;
  /** The `assistant.message` that it brought; absent for calls that answer no prompt, such as summaries. */
  readonly eventId?: string;
  readonly agentId?: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** US dollars; null where no price is known. */
  readonly cost: number | null;
  readonly isEstimated?: true;
}

/** What is stored of the model calls of a session, read again from where it was left. */
export class StoredUses {
  readonly uses: Use[] = [];
  private after = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isOver = false;

  constructor(
    private readonly sessionId: string,
    private readonly onChange: () => void,
  ) {}

  /** Looks soon; many wishes are one look. */
  look(): void {
    this.timer ??= setTimeout(() => void this.read(), 100);
  }

  close(): void {
    this.isOver = true;
    clearTimeout(this.timer);
  }

  private async read(): Promise<void> {
    try {
      const place = `session=${encodeURIComponent(this.sessionId)}&after=${this.after}`;
      const answer = await fetch(`/usage?${place}`);
      if (!answer.ok || this.isOver) return;
      const { uses, after } = (await answer.json()) as {
        readonly uses: readonly Use[];
        readonly after: number;
      };
      this.uses.push(...uses);
      this.after = after;
      if (uses.length > 0) this.onChange();
    } catch {
      // The server is away: the next event that comes looks again.
    } finally {
      this.timer = undefined;
    }
  }
}
