import { ErrorSkipped, Interruption } from '../interruption.js';
import type { AgentLog } from '../log/agent-log.js';
import { type AgentTask, activeMilliseconds } from '../log/agent-task.js';
import type { Draft } from '../log/session-log.js';
import { type AgentState, agentOf, type SessionState } from '../log/state.js';
import { CapReached } from '../model-call/allowance.js';
import { rejection } from '../permissions/decision.js';
import { spentBy } from './caps.js';
import { cancellation } from './question-cancellation.js';
import { errorData } from './session-error.js';

type EndStatus = 'completed' | 'failed' | 'cancelled';

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

/** How an agent ended, as the log has it, and what its parent reads. */
export function endDrafts(
  task: AgentTask,
  how: HowEnded,
  { state, now }: { readonly state: SessionState; readonly now: Date },
): { readonly drafts: readonly Draft[]; readonly result: string } {
  const { agentId } = task;
  const { status, remark, error } = how;
  const agent = agentOf(state, agentId);
  const text = lastText(agent);
  const parts = remark === undefined ? [text] : [text, `(${remark})`];
  const result = parts.filter((part) => part !== '').join('\n\n');
  const activeMs = activeMilliseconds(task, now.getTime());
  const totals = totalsOf(task, agent, { state, activeMs });
  const change = { status, completedAt: now.toISOString(), activeMs, result };
  return {
    result,
    drafts: [
      ...closingDrafts(agent, 'The agent was ended'),
      // One that waited for a place never began, for clients.
      ...(task.isAnnounced ? [endEvent(how, totals)] : []),
      {
        note: 'agent.changed',
        data: { agentId, ...change, ...(error !== undefined && { error }) },
      },
    ],
  };
}

/** What closes a turn that is open: its calls and questions, and the turn. */
export function closingDrafts({ turn, calls, questions }: AgentState, reason: string): Draft[] {
  return [
    ...questions.map((question) => cancellation(question, reason)),
    ...calls.map(({ toolCallId }): Draft => ({ note: 'call.interrupted', data: { toolCallId } })),
    ...(turn ? [{ type: 'assistant.turn_end' as const, data: { turnId: turn.turnId } }] : []),
  ];
}

export function namesOf({ agent }: AgentTask) {
  return { agentName: agent.name, agentDisplayName: agent.displayName };
}

/** What hooks receive of an agent. */
export function hookInput(task: AgentTask) {
  return { ...namesOf(task), agentType: task.agent.name, agentId: task.agentId };
}

/** The last thing that an agent said. */
export function lastText({ history }: AgentState): string {
  const said = history.findLast((entry) => entry.role === 'assistant' && entry.text !== '');
  return said?.role === 'assistant' ? said.text : '';
}

/** The last call of the agent was rejected by a user: it does not go on without a new message. */
export function isRejected({ history }: AgentState): boolean {
  const answered = history.findLastIndex((entry) => entry.role !== 'tool');
  return history.slice(answered + 1).some((entry) => entry.role === 'tool' && entry.text === rejection);
}

/** What the agent that began it reads of such a rejection. */
export function rejectedRemark({ latest }: AgentLog): Pick<HowEnded, 'remark'> {
  if (!isRejected(latest)) return {};
  return { remark: 'The user rejected what the agent was about to do, and it stopped there.' };
}

function endEvent(
  { status, error = '' }: { readonly status: EndStatus; readonly error?: string },
  totals: ReturnType<typeof totalsOf>,
): Draft {
  if (status === 'failed') return { type: 'subagent.failed', data: { ...totals, error } };
  return {
    type: 'subagent.completed',
    data: { ...totals, ...(status === 'cancelled' && { cancelled: true }) },
  };
}

function totalsOf(
  task: AgentTask,
  { history, spending }: AgentState,
  { state, activeMs }: { readonly state: SessionState; readonly activeMs: number },
) {
  const calls = history.flatMap((entry) => (entry.role === 'assistant' ? entry.toolCalls : []));
  const [model] = Object.keys(spending.byModel);
  return {
    toolCallId: task.toolCallId,
    ...namesOf(task),
    ...(model !== undefined && { model }),
    totalToolCalls: calls.length,
    totalTokens: spentBy([task.agentId], state).tokens,
    durationMs: activeMs,
  };
}
