import type { Draft } from '../log/session-log.js';

/** Records warnings about options at once, those excepted that clients have received before. */
export async function warnAtOnce(
  session: { readonly isReadOnly: boolean; record(...drafts: readonly Draft[]): Promise<unknown> },
  warnings: OptionWarnings,
  messages: readonly string[],
): Promise<void> {
  warnings.add(messages);
  if (messages.length === 0 || session.isReadOnly) return;
  const drafts = warnings.take();
  if (drafts.length > 0) await session.record(...drafts);
}

/** Warnings of options without effect: each is said once in the life of a session in this process. */
export class OptionWarnings {
  private readonly known = new Set<string>();
  private unsaid: string[] = [];

  add(messages: readonly string[]): void {
    for (const message of messages) {
      if (this.known.has(message)) continue;
      this.known.add(message);
      this.unsaid.push(message);
    }
  }

  /** What has not been said yet; from now on it has. */
  take(): readonly Draft[] {
    const messages = this.unsaid;
    this.unsaid = [];
    return messages.map((message) => ({
      type: 'session.warning',
      data: { warningType: 'configuration', message },
    }));
  }
}
