/**
 * Sessions that clients of 0.2.x created. A client that resumes one of them in their way, which is also that of 0.1.30,
 * is taken for one of the same app; as long as the process lives, and for so many sessions.
 */
export class NewerSessions {
  private readonly ids = new Set<string>();

  add(sessionId: string): void {
    this.ids.delete(sessionId);
    this.ids.add(sessionId);
    const [oldest] = this.ids;
    if (this.ids.size > mostIds && oldest !== undefined) this.ids.delete(oldest);
  }

  has(sessionId: string): boolean {
    return this.ids.has(sessionId);
  }
}

const mostIds = 10_000;
