import type { EventData } from '@groundcrew/protocol';
import type { Draft } from '../log/session-log.js';
import type { ToolResult } from '../tools/tool.js';
import type { CallToRun, GateTurn } from './call.js';

/** What closes a call, in one commit: the receipt, and what the model reads where that is not the same. */
export function receiptOf(
  { call, turn }: { readonly call: CallToRun; readonly turn: GateTurn },
  result: ToolResult,
): Draft[] {
  const shown = result.type === 'success' ? result.text : (result.message ?? result.text);
  const isVerbatim = shown === result.text && result.parts === undefined;
  const parts = result.parts && { parts: result.parts };
  const verbatim: Draft = { note: 'verbatim', data: { id: call.toolCallId, text: result.text, ...parts } };
  const data: EventData<'tool.execution_complete'> = {
    toolCallId: call.toolCallId,
    success: result.type === 'success',
    model: turn.model,
    interactionId: turn.interactionId,
    turnId: turn.turnId,
    ...(result.type === 'success'
      ? { result: successOf(result) }
      : { error: { message: shown, code: result.type } }),
    toolTelemetry: result.telemetry ?? {},
    ...(result.isConfined && { sandboxed: true }),
  };
  return [...(isVerbatim ? [] : [verbatim]), { type: 'tool.execution_complete', data }];
}

function successOf(result: ToolResult): EventData<'tool.execution_complete'>['result'] {
  return {
    content: result.text,
    detailedContent: result.details ?? result.text,
    ...(result.contents && { contents: result.contents }),
    ...(result.binaries && { binaryResultsForLlm: result.binaries }),
    ...(result.structured && { structuredContent: result.structured }),
    ...(result.meta && { mcpMeta: result.meta }),
  } as EventData<'tool.execution_complete'>['result'];
}
