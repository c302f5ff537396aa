import type { SessionLog } from '../log/session-log.js';
import { agentOf } from '../log/state.js';
import type { Questions } from '../questions/questions.js';
import { cancellation } from './turn-outcome.js';

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
