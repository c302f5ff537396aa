import type { Objective } from '../log/autopilot-state.js';
import type { Draft } from '../log/session-log.js';
import { modeOf, type Prompt } from '../log/state.js';
import type { AgentContext } from './agent-context.js';

/**
 * What an agent in autopilot reads that stops before it has said that its task is done; undefined when it may stop. The
 * count is of the log: a crash does not begin it anew. What a user rejected, autopilot does not go on with.
 */
export async function continuationOf(
  { log, session }: AgentContext,
  end: 'answered' | 'rejected',
): Promise<Pick<Prompt, 'text' | 'displayText' | 'isContinuation'> | undefined> {
  const { continuations, isTaskComplete, objective } = log.session;
  const isOver = modeOf(log.session) !== 'autopilot' || isTaskComplete || end === 'rejected';
  if (log.agentId !== undefined || isOver) return undefined;
  const isPursued = objective !== undefined && objective.status !== 'completed';
  if (continuations >= session.limits.continuations) {
    const message = `Autopilot has stopped: the task was not said to be done after ${continuations} continuations. Send another prompt to go on.`;
    log.append(
      { type: 'session.info', data: { infoType: 'autopilot', message } },
      ...(isPursued ? [objectiveChange({ ...objective, status: 'cap_reached' })] : []),
    );
    return undefined;
  }
  const text = isPursued ? await session.readObjective() : undefined;
  log.emit({ type: 'assistant.idle', data: {} });
  return {
    text: text === undefined ? goOn : `${goOn}\n\n${shown(text)}`,
    displayText: '',
    isContinuation: true,
  };
}

function objectiveChange({ id, status }: Objective): Draft {
  return { type: 'session.autopilot_objective_changed', data: { operation: 'update', id, status } };
}

const goOn =
  'You have not called task_complete yet. If the task is done, call task_complete with a summary. If it is not, go on with it: decide open points yourself, and do not stop to ask.';

function shown(objective: string): string {
  return `The objective is:\n<objective>\n${objective}\n</objective>`;
}
