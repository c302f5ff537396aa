import type { AgentLog } from '../log/agent-log.js';
import type { Waits } from '../questions/waits.js';

/**
 * A guard that is gone guards still: while no client with hooks is attached to a session that had one, no call runs
 * unasked. It is asked about, or waits until a client with hooks attaches or a resume waives them.
 */
export class HookGuard {
  private readonly waiting = new Set<() => void>();

  constructor(
    private readonly parts: {
      readonly log: AgentLog;
      readonly waits: Waits;
      /** Some attached client has hooks. */
      hasClient(): boolean;
    },
  ) {}

  /** The session had a client with hooks, and none is attached now. */
  get isAway(): boolean {
    const { log, hasClient } = this.parts;
    return log.session.fixed.hasHooks === true && !hasClient();
  }

  /** Resolves when clients have come or gone, or hooks were waived. */
  change(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const changed = new Promise<void>((resolve, reject) => {
      const wake = () => {
        signal.removeEventListener('abort', stop);
        this.waiting.delete(wake);
        resolve();
      };
      const stop = () => {
        this.waiting.delete(wake);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.waiting.add(wake);
    });
    return this.parts.waits.during({ kind: 'hooks', hookType: 'preToolUse', source: 'a client' }, changed);
  }

  /** Clients have come or gone, or hooks were waived. */
  changed(): void {
    for (const wake of this.waiting) wake();
  }
}
