import type { JsonObject } from '@groundcrew/protocol';
import type { McpCall } from '../tools/tool.js';
import type { HookAnswer, HookInput, Hooks } from './hooks.js';

/** What hooks made of a call to an MCP server: why it must not go, or the `_meta` it goes with. */
export type McpReview = { readonly denial: string } | { readonly meta?: JsonObject };

/** Asks every source in turn; each sees the `_meta` that the one before left. One that denies or fails denies the call. */
export async function reviewMcpCall(
  hooks: Hooks,
  call: McpCall & { readonly toolCallId: string },
  signal: AbortSignal,
): Promise<McpReview> {
  let meta: JsonObject | undefined;
  const take = (input: HookInput<'preMcpToolCall'>, output: { readonly metaToUse?: unknown }) => {
    if (output.metaToUse === undefined) return input;
    meta = output.metaToUse === null ? undefined : (output.metaToUse as JsonObject);
    const { _meta: _, ...rest } = input;
    return { ...rest, ...(meta && { _meta: meta }) };
  };
  const { serverName, toolName, arguments: args, toolCallId } = call;
  const answers = await hooks.run(
    'preMcpToolCall',
    { serverName, toolName, arguments: args, toolCallId },
    signal,
    take,
  );
  const [denial] = answers.flatMap(denialIn);
  if (denial !== undefined) return { denial: `Denied by preMcpToolCall hook: ${denial}` };
  return meta ? { meta } : {};
}

function denialIn(answer: HookAnswer<'preMcpToolCall'>): readonly string[] {
  if ('failure' in answer) return answer.onFailure === 'deny' ? [answer.failure] : [];
  const { permissionDecision, permissionDecisionReason } = answer.output ?? {};
  return permissionDecision === 'deny' ? [permissionDecisionReason ?? 'No reason provided'] : [];
}
