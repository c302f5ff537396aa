/** A request whose body is not here yet. */
export interface PendingBody {
  /** Its body is here, or will not come. */
  done(): void;
}

/**
 * Requests whose bodies are still on their way. They take no place of those that are answered. When there are too many, the
 * token with most of them loses its oldest: slow clients keep no other client out.
 */
export class PendingBodies {
  private readonly waiting = new Map<PendingBody, { readonly token: string; readonly cutOff: () => void }>();

  constructor(private readonly most: number) {}

  /** A request with this token has come; `cutOff` ends it. */
  begin(token: string, cutOff: () => void): PendingBody {
    const body: PendingBody = { done: () => void this.waiting.delete(body) };
    this.waiting.set(body, { token, cutOff });
    if (this.waiting.size > this.most) this.cutOffOldest();
    return body;
  }

  private cutOffOldest(): void {
    const counts = new Map<string, number>();
    for (const { token } of this.waiting.values()) counts.set(token, (counts.get(token) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const [oldest, { cutOff } = { cutOff: () => undefined }] =
      [...this.waiting].find(([, { token }]) => counts.get(token) === most) ?? [];
    oldest?.done();
    cutOff();
  }
}
