import type { ModelError, ModelInfo, ModelProvider, ModelRequest, Price } from '@groundcrew/models';
import type { SessionLimits } from '../budget/limits.js';
import type { Totals } from '../budget/spending.js';
import type { Clock } from '../clock.js';
import type { AgentLog } from '../log/agent-log.js';
import type { Questions } from '../questions/questions.js';
import type { Waits } from '../questions/waits.js';

/** What one model call is to do, for whatever purpose: a turn, a summary, a sub-agent. */
export interface ModelCallRequest {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly info: ModelInfo | undefined;
  /** Clients see the answer piece by piece. */
  readonly streaming: boolean;
  readonly reasoningEffort?: string;
  /** The session can do without the answer: one attempt, no user is asked about limits, and nothing waits for it. */
  readonly isOptional?: boolean;
  /** `user` for the first call of a user's prompt, `agent` for those that follow from an agent's work. */
  readonly initiator: 'user' | 'agent';
  /** Tokens the request is thought to have, by its length. */
  estimate(): number;
  /** What is sent; made anew for each attempt. */
  modelRequest(allowance: Allowance): ModelRequest;
  /** Counts bytes that streamed by, and returns how many there were since the prompt. */
  countBytes(bytes: number): number;
}

/** What one model call may take. */
export interface Allowance {
  readonly estimatedInput: number;
  /** Absent: as much as the model gives. */
  readonly maxOutputTokens?: number;
  /** The text that informs the model of its remaining budget. */
  readonly remark?: string;
}

/** A limit that belongs to an agent, and not to the session: no user is asked about it. */
export interface Cap {
  readonly limits: SessionLimits;
  readonly totals: Totals;
  /** Whose it is. */
  readonly owner: string;
}

/** What a model call works with. */
export interface ModelCallParts {
  readonly log: AgentLog;
  readonly clock: Clock;
  readonly waits: Waits;
  readonly questions: Questions;
  /** What is to be done about an attempt that failed; `recoverable` when the provider makes another one anyway. */
  failed(
    error: ModelError,
    recoverable: boolean,
    signal: AbortSignal,
  ): Promise<{ readonly action?: 'retry' | 'skip' | 'abort'; readonly retryCount: number }>;
  /** What the agent itself, and the tree it belongs to, may take; none for the root agent. */
  caps?(): readonly Cap[];
  /** What a model costs, if it is known. */
  priceOf(model: string): Promise<Price | undefined>;
}
