import type { JsonObject } from '@groundcrew/protocol';
import type { EphemeralDraft } from '../log/session-log.js';
import type { McpCall } from '../tools/tool.js';
import type { McpServer } from './server.js';

/** A call that an app of a server makes: no model asked for it. */
export interface AppToolCall {
  readonly call: McpCall;
  readonly meta?: JsonObject;
}

/** Makes the call and reports to clients what came of it; returns what the server answers as it is. Rejects in words. */
export async function callForApp(
  server: McpServer,
  { call, meta }: AppToolCall,
  { signal, emit }: { readonly signal: AbortSignal; emit(draft: EphemeralDraft): void },
): Promise<JsonObject> {
  const began = Date.now();
  const report = (
    outcome: { readonly result: JsonObject } | { readonly error: { readonly message: string } },
  ) =>
    emit({
      type: 'mcp_app.tool_call_complete',
      data: {
        serverName: server.name,
        toolName: call.toolName,
        arguments: call.arguments,
        durationMs: Date.now() - began,
        success: 'result' in outcome && outcome.result.isError !== true,
        ...outcome,
      },
    });
  try {
    const result = (await server.callRaw(call, { signal, meta })) as JsonObject;
    report({ result });
    return result;
  } catch (error) {
    report({ error: { message: error instanceof Error ? error.message : String(error) } });
    throw error;
  }
}
