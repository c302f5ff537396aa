import type { OpenQuestion } from '../log/open-question.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import { agentOf } from '../log/state.js';
import type { Questions } from '../questions/questions.js';

/** The answer that a question gets when no client can answer it any more. */
export function cancellation(question: OpenQuestion, reason: string): Draft {
  const { requestId, toolCallId } = question;
  switch (question.kind) {
    case 'auto_mode_switch':
      return { type: 'auto_mode_switch.completed', data: { requestId, response: 'no' } };
    case 'elicitation':
      return { type: 'elicitation.completed', data: { requestId, action: 'cancel' } };
    case 'exit_plan_mode':
      return { type: 'exit_plan_mode.completed', data: { requestId, approved: false } };
    case 'external_tool':
      return { type: 'external_tool.completed', data: { requestId } };
    case 'permission':
      return {
        type: 'permission.completed',
        data: { requestId, toolCallId, result: { kind: 'cancelled', reason } },
      };
    case 'sampling':
      return { type: 'sampling.completed', data: { requestId } };
    case 'session_limits':
      return {
        type: 'session_limits_exhausted.completed',
        data: { requestId, response: { action: 'cancel' } },
      };
    case 'user_input':
      return { type: 'user_input.completed', data: { requestId } };
  }
}

/** Cancels open permission questions that belong to no call of a turn: the process that asked them is gone. */
export function closeOrphans({
  log,
  questions,
}: {
  readonly log: SessionLog;
  readonly questions: Questions;
}): void {
  const { calls, questions: open } = agentOf(log.latest);
  const orphans = open.filter(
    ({ kind, toolCallId, requestId }) =>
      kind === 'permission' &&
      !questions.isWaiting(requestId) &&
      !calls.some((call) => call.toolCallId === toolCallId),
  );
  for (const orphan of orphans) log.append(cancellation(orphan, 'Who asked is gone'));
}
