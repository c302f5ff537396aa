import {
  awaitClient,
  awaitLeave,
  awaitUser,
  type CallToRun,
  closeUnknown,
  type Gate,
  passGate,
  startOf,
} from '../gate/gate.js';
import type { OpenCall } from '../log/state.js';
import type { ResultType } from '../tools/tool.js';
import type { LoopContext } from '../turn/context.js';

/**
 * Takes up a turn that another process, or this one before a drop, had left open.
 * True when the model is to be asked next, be it for the first time or with the results.
 */
export async function continueTurn(context: LoopContext, signal: AbortSignal): Promise<boolean> {
  const { log, interaction } = context;
  const { turn, calls } = log.state;
  if (!turn) return false;
  if (!turn.hasAnswer) {
    interaction.isContinued = true;
    return true;
  }
  const gate = { context, plan: context.plan(), signal };
  const outcomes = await Promise.all(calls.map((call) => continueCall(call, gate)));
  log.append({ type: 'assistant.turn_end', data: { turnId: turn.turnId } });
  if (turn.isRejected || outcomes.includes('rejected')) return false;
  const said = log.state.history.findLast((entry) => entry.role === 'assistant');
  return said !== undefined && said.toolCalls.length > 0;
}

/** A call waits where it waited; one that may or may not have run is never run again unless its tool says that it may. */
async function continueCall(
  open: OpenCall,
  gate: Gate & { readonly signal: AbortSignal },
): Promise<ResultType> {
  const call: CallToRun = {
    toolCallId: open.toolCallId,
    name: open.toolName,
    arguments: open.arguments,
    argumentsText: '',
    granted: open.granted ?? [],
  };
  const { context, plan, signal } = gate;
  const question = context.log.state.questions.find((each) => each.toolCallId === open.toolCallId);
  if (question?.kind === 'external_tool') return awaitClient(call, question.requestId, gate);
  if (question?.kind === 'user_input') return awaitUser(call, question.event, gate);
  if (question?.kind === 'permission') {
    const granted = [...(open.granted ?? []), question.event];
    const refused = await awaitLeave(call, question.requestId, gate);
    return refused ?? startAgain({ ...call, granted }, context, signal);
  }
  const mayRun = open.attempts === 0 || plan.toolset.find(call.name)?.isRepeatable;
  if (mayRun) return passGate(call, gate, signal);
  return closeUnknown(call, gate);
}

/** With the tools of those who are attached now, which need not be those who were when the turn was taken up. */
async function startAgain(call: CallToRun, context: LoopContext, signal: AbortSignal): Promise<ResultType> {
  const plan = context.plan();
  context.log.append(await startOf(call, { context, plan }));
  return passGate(call, { context, plan }, signal);
}
