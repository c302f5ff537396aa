import type { Retention } from '../config/retention.js';

/** What retention works on. */
interface RetentionParts {
  /** What the home's settings say now; throws when they cannot be understood. */
  settings(): Retention | undefined;
  prune(retention: Retention): Promise<unknown>;
  warn(message: string): void;
}

const firstAfter = 2_000;
const every = 60 * 60 * 1000;

/** Deletes what the home's settings no longer keep, soon after the start and then every hour. Returns what ends that. */
export function keepRetention(parts: RetentionParts): () => void {
  const run = async () => {
    try {
      const retention = parts.settings();
      if (retention) await parts.prune(retention);
    } catch (error) {
      parts.warn(`Old sessions were not deleted: ${error instanceof Error ? error.message : error}`);
    }
  };
  const timers = [
    setTimeout(() => void run(), firstAfter).unref(),
    setInterval(() => void run(), every).unref(),
  ];
  return () => {
    for (const timer of timers) clearTimeout(timer);
  };
}
