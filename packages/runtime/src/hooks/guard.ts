import type { HookType } from '@groundcrew/protocol';
import type { AgentLog } from '../log/agent-log.js';
import type { GuardPoint } from '../log/recorded-guard.js';
import type { Waits } from '../questions/waits.js';
import { isUncovered } from './guard-points.js';

/** A call that waits for the session's guard, before it runs or with its result. */
export interface HeldCall {
  readonly toolCallId: string;
  readonly hookType: HookType;
}

/**
 * A guard that is gone guards still: while no client with hooks is attached to a session that had one, no call runs
 * unasked. It is asked about, or waits until a client with such hooks attaches or a resume waives them.
 */
export class HookGuard {
  private readonly waiting = new Map<() => void, string>();

  constructor(
    private readonly parts: {
      readonly log: AgentLog;
      readonly waits: Waits;
      /** What the hooks of attached clients decide about; undefined when none has hooks. */
      attached(): readonly GuardPoint[] | undefined;
      /** A call waits now, and all that it needs in order to go on is in the log. */
      held?(): void;
    },
  ) {}

  /** The session had hooks that decide about calls, and they are not attached now. */
  get isAway(): boolean {
    return this.isMissing(['preToolUse', 'preMcpToolCall']);
  }

  /** The session had hooks that see calls leave for servers, and they are not attached now. */
  get isAwayForServers(): boolean {
    return this.isMissing(['preMcpToolCall']);
  }

  /** The session had hooks that see results, and they are not attached now. */
  get isAwayForResults(): boolean {
    return this.isMissing(['postToolUse']);
  }

  private isMissing(points: readonly GuardPoint[]): boolean {
    const { log, attached } = this.parts;
    return isUncovered(log.session.fixed, attached(), points);
  }

  /** This call does nothing but wait for the guard. */
  isHolding(toolCallId: string): boolean {
    return [...this.waiting.values()].includes(toolCallId);
  }

  /** Resolves when clients have come or gone, or hooks were waived. */
  change({ toolCallId, hookType }: HeldCall, signal: AbortSignal): Promise<void> {
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
      this.waiting.set(wake, toolCallId);
    });
    this.parts.held?.();
    return this.parts.waits.during({ kind: 'hooks', hookType, source: 'a client' }, changed);
  }

  /** Clients have come or gone, or hooks were waived. */
  changed(): void {
    for (const wake of [...this.waiting.keys()]) wake();
  }
}
