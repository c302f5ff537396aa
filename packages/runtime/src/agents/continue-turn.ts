import type { HistoryEntry } from '../log/state.js';
import type { AgentContext } from '../turn/agent-context.js';
import { gateTurn, type TurnEnd, turnEnd } from '../turn/turn.js';

/**
 * Takes up a turn that another process, or this one before it was unloaded, had left open. Says how it ended; `results wait`:
 * the model is to be asked next, be it for the first time or with the results.
 */
export async function continueTurn(context: AgentContext, signal: AbortSignal): Promise<TurnEnd> {
  const { log, interaction, planner, gate } = context;
  const { turn, awaited, calls, stop } = log.state;
  if (awaited !== undefined) return 'results wait';
  if (!turn) return stop?.isRejected ? 'rejected' : 'answered';
  if (!turn.hasAnswer) {
    interaction.isContinued = true;
    return 'results wait';
  }
  // What waits for an answer waits at once: only what has to run waits for tools.
  const replan = async () => {
    await planner.ready(signal);
    return gateTurn(context, planner.plan());
  };
  const now = { turn: gateTurn(context, planner.plan()), replan };
  const outcomes = await Promise.all(calls.map((call) => gate.continue(call, now, signal)));
  const end = endOf(turn.isRejected || outcomes.includes('rejected'), log.latest.history);
  log.append(...turnEnd(context, turn.turnId, end));
  return end;
}

function endOf(isRejected: boolean, history: readonly HistoryEntry[]): TurnEnd {
  if (isRejected) return 'rejected';
  const lastAnswer = history.findLast((entry) => entry.role === 'assistant');
  return lastAnswer && lastAnswer.toolCalls.length > 0 ? 'results wait' : 'answered';
}
