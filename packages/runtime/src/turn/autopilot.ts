import { modeOf, type Prompt } from '../log/state.js';
import type { AgentContext } from './context.js';

/**
 * What an agent in autopilot reads that stops before it has said that its task is done; undefined when it may stop. The
 * count is of the log: a crash does not begin it anew. What a user rejected, autopilot does not go on with.
 */
export function continuationOf(
  { log, session }: AgentContext,
  end: 'answered' | 'rejected',
): Pick<Prompt, 'text' | 'displayText' | 'isContinuation'> | undefined {
  const { continuations, isTaskComplete } = log.session;
  const isOver = modeOf(log.session) !== 'autopilot' || isTaskComplete || end === 'rejected';
  if (log.agentId !== undefined || isOver) return undefined;
  if (continuations >= session.limits.continuations) {
    const message = `Autopilot has stopped: the task was not said to be done after ${continuations} continuations. Send another prompt to go on.`;
    log.append({ type: 'session.info', data: { infoType: 'autopilot', message } });
    return undefined;
  }
  log.emit({ type: 'assistant.idle', data: {} });
  return { text: goOn, displayText: '', isContinuation: true };
}

const goOn =
  'You have not called task_complete yet. If the task is done, call task_complete with a summary. If it is not, go on with it: decide open points yourself, and do not stop to ask.';
