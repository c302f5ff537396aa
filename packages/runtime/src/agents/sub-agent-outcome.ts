import { ErrorSkipped, Interruption } from '../interruption.js';
import type { AgentLog } from '../log/agent-log.js';
import type { AgentState } from '../log/state.js';
import { CapReached } from '../model-call/allowance.js';
import { rejection } from '../permissions/decision.js';
import { errorData } from './failure.js';
import type { EndStatus } from './sub-agent-end.js';

/** How an agent's work came to its end. */
export interface HowEnded {
  readonly status: EndStatus;
  readonly remark?: string;
  readonly error?: string;
}

/** What an agent comes to that did not end by itself. */
export function endBy(reason: unknown): HowEnded {
  if (reason instanceof CapReached)
    return {
      status: 'completed',
      remark: `The agent was ended before it was done: ${reason.message}.`,
    };
  if (reason instanceof Interruption) return { status: 'cancelled' };
  if (reason instanceof ErrorSkipped) return { status: 'completed' };
  return { status: 'failed', error: errorData(reason).message };
}

/** Its last word was a call that a user rejected: it does not go on without one. */
export function isRejected({ history }: AgentState): boolean {
  const answered = history.findLastIndex((entry) => entry.role !== 'tool');
  return history.slice(answered + 1).some((entry) => entry.role === 'tool' && entry.text === rejection);
}

/** What the agent above reads of that. */
export function rejectedRemark({ latest }: AgentLog): Pick<HowEnded, 'remark'> {
  if (!isRejected(latest)) return {};
  return { remark: 'The user rejected what the agent was about to do, and it stopped there.' };
}
