import type { JsonObject } from '@groundcrew/protocol';
import type { McpChange, McpDestination } from '../tools/tool.js';
import { type Hooks, outputsOf } from './hooks.js';

/** What hooks made of such a call: why it must not leave, or what changes of it. */
export type McpReview = { readonly denial: string } | McpChange;

/** Asks hooks before a call leaves for its MCP server; each sees the `_meta` that the one before made. A failure denies. */
export async function reviewMcpCall(
  hooks: Hooks,
  call: McpDestination & { readonly toolCallId: string },
  signal: AbortSignal,
): Promise<McpReview> {
  const answers = await hooks.run('preMcpToolCall', call, signal, (input, { metaToUse }) => {
    if (metaToUse === undefined) return input;
    const { _meta: _, ...rest } = input;
    return metaToUse === null ? rest : { ...rest, _meta: metaToUse };
  });
  const denial = answers.find((answer) => 'failure' in answer && answer.onFailure === 'deny');
  if (denial && 'failure' in denial) return { denial: denial.failure };
  const { metaToUse } = outputsOf(answers).findLast((output) => output.metaToUse !== undefined) ?? {};
  return metaToUse === undefined ? {} : { meta: metaToUse as JsonObject | null };
}
