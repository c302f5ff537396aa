import type { LoopContext } from './context.js';
import { runTurn } from './turn.js';

/** One prompt, turn after turn, until the model asks for no tool. Prompts that wait get an interaction of their own. */
export async function runUntilAnswered(context: LoopContext, signal: AbortSignal): Promise<void> {
  let wantsResults = true;
  while (wantsResults) {
    signal.throwIfAborted();
    wantsResults = await runTurn(context, signal);
  }
}
