import type { JsonObject, Methods } from '@groundcrew/protocol';
import type { ExternalAnswer } from '@groundcrew/runtime';
import { boundedResult } from '../bounds.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.tools.${string}`>;

export const sessionToolsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.tools.initializeAndValidate'(_params, { session }) {
    await session.tools.initialize();
    return {};
  },
  async 'session.tools.updateSubagentSettings'({ subagents }, { session }) {
    session.agents.change(subagents ?? null);
    return {};
  },
  async 'session.tools.handlePendingToolCall'({ requestId, result, error }, { session }) {
    const answer: ExternalAnswer = {
      ...(result !== undefined && { result: boundedResult(result as string | JsonObject) }),
      ...(error !== undefined && { error }),
    };
    return { success: await session.answer({ kind: 'external_tool', requestId }, answer) };
  },
  async 'session.tools.getCurrentMetadata'(_params, { session }) {
    const tools = await session.tools.current();
    if (!tools) return { tools: null };
    return {
      tools: tools.map(({ name, description, inputSchema }) => ({
        name,
        description,
        input_schema: { ...inputSchema },
      })),
    };
  },
};
