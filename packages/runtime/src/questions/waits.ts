import type { Clock } from '../clock.js';

/** What a session waits for, before it is said since when. */
type WaitKind =
  | { readonly kind: 'model'; readonly model: string; readonly attempt: number }
  | {
      readonly kind: 'retry';
      readonly model: string;
      /** The attempt that comes next, and when. */
      readonly attempt: number;
      readonly at: string;
      readonly reason: string;
    }
  | { readonly kind: 'tool'; readonly toolCallId: string; readonly toolName: string }
  | {
      readonly kind:
        | 'auto_mode_switch'
        | 'permission'
        | 'user_input'
        | 'elicitation'
        | 'exit_plan_mode'
        | 'sampling'
        | 'command'
        | 'session_limits';
      readonly requestId: string;
    }
  | {
      readonly kind: 'hooks';
      readonly hookType: string;
      /** Who is to answer. */
      readonly source: string;
    }
  | { readonly kind: 'mcp_server'; readonly serverName: string }
  /** A sub-agent at work in the background, or one that waits until others have ended. */
  | {
      readonly kind: 'agent';
      readonly agentId: string;
      readonly agentName: string;
      readonly isQueued: boolean;
    }
  /** Prompts for their turn; `paused` while a client holds the queue. */
  | { readonly kind: 'queue'; readonly prompts: number; readonly paused?: true };

/** One thing that a session waits for, and since when. */
export type Wait = WaitKind & { readonly since: string };

/** What a session waits for at this moment, so that nothing waits in silence. */
export class Waits {
  private readonly waiting = new Set<Wait>();

  constructor(private readonly clock: Clock) {}

  /** Returns what ends it. */
  begin(wait: WaitKind): () => void {
    const begun = { since: this.clock.timestamp(), ...wait };
    this.waiting.add(begun);
    return () => void this.waiting.delete(begun);
  }

  /** Waits as long as the work takes. */
  during<T>(wait: WaitKind, work: Promise<T>): Promise<T> {
    return work.finally(this.begin(wait));
  }

  /** In the order in which they began; an attempt whose time has come is no longer waited with, but waited for. */
  list(): readonly Wait[] {
    const now = this.clock.timestamp();
    return [...this.waiting].map((wait) => {
      if (wait.kind !== 'retry' || wait.at > now) return wait;
      return { kind: 'model', model: wait.model, attempt: wait.attempt, since: wait.at };
    });
  }
}
