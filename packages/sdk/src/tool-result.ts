import type { ClientToolResult } from '@groundcrew/protocol';

/** A tool's answer in full: what the model sees, how it ended, and what users may see besides. */
export type ToolResultObject = ClientToolResult;

/** The wire form of what a handler returned. Throws what JSON cannot hold. */
export function toolResult(returned: unknown): string | ToolResultObject {
  if (typeof returned === 'string') return returned;
  if (isToolResult(returned)) return { resultType: 'success', ...returned };
  const text = JSON.stringify(returned) as string | undefined; // undefined for what is no value in JSON
  return text ?? { textResultForLlm: noResult, resultType: 'failure', error: noResult };
}

/** The answer that shows the model what is wrong with its arguments, so that it can do better. */
export function badArguments(toolName: string, reason: string): ToolResultObject {
  const text = `Invalid arguments for tool ${toolName}: ${reason}`;
  return { textResultForLlm: text, resultType: 'failure', error: text };
}

const noResult = 'Tool returned no result.';

function isToolResult(returned: unknown): returned is ToolResultObject {
  if (typeof returned !== 'object' || returned === null || !('textResultForLlm' in returned)) return false;
  return typeof returned.textResultForLlm === 'string';
}
