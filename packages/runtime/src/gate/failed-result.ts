import { refusalBy } from '../permissions/decision.js';
import { Forbidden } from '../permissions/policy.js';
import { ToolFailure, ToolInputError, type ToolResult } from '../tools/tool.js';
import type { CallToRun } from './call.js';

/** What the model reads of a call that may or may not have run. */
export const interruptedText = 'The execution of this tool, or a previous tool was interrupted.';

/** The result of such a call. */
export const interrupted: ToolResult = { type: 'failure', text: interruptedText };

/** The result of a call that threw. */
export function failureOf(call: CallToRun, error: unknown): ToolResult {
  if (error instanceof ToolInputError)
    return { type: 'failure', text: `Invalid input: ${error.message}`, message: error.message };
  if (error instanceof ToolFailure) return { type: 'failure', text: error.text, message: error.message };
  if (error instanceof Forbidden) return refusalBy(error.verdict);
  const reason = error instanceof Error ? error.message : String(error);
  const args = JSON.stringify(call.arguments) ?? '';
  const shown = args.length > longestArguments ? `${args.slice(0, longestArguments)}…` : args;
  return {
    type: 'failure',
    text: `Failed to execute \`${call.name}\` tool with arguments: ${shown} due to error: Error: ${reason}`,
    message: reason,
  };
}

/** A model that reads its own words again needs no more of them to know the call. */
const longestArguments = 2000;
