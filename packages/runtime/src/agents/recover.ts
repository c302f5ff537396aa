import type { AgentContext } from '../turn/context.js';
import { gateTurn } from '../turn/turn.js';

/**
 * Takes up a turn that another process, or this one before it was unloaded, had left open.
 * True when the model is to be asked next, be it for the first time or with the results.
 */
export async function continueTurn(context: AgentContext, signal: AbortSignal): Promise<boolean> {
  const { log, interaction, planner, gate } = context;
  const { turn, calls } = log.state;
  if (!turn) return false;
  if (!turn.hasAnswer) {
    interaction.isContinued = true;
    return true;
  }
  // What waits for an answer waits at once: only what has to run waits for tools.
  const replan = async () => {
    await planner.ready(signal);
    return gateTurn(context, planner.plan());
  };
  const now = { turn: gateTurn(context, planner.plan()), replan };
  const outcomes = await Promise.all(calls.map((call) => gate.continue(call, now, signal)));
  log.append({ type: 'assistant.turn_end', data: { turnId: turn.turnId } });
  if (turn.isRejected || outcomes.includes('rejected')) return false;
  const lastAnswer = log.state.history.findLast((entry) => entry.role === 'assistant');
  return lastAnswer !== undefined && lastAnswer.toolCalls.length > 0;
}
