import type { JsonObject, Methods } from '@groundcrew/protocol';
import type { ExternalAnswer } from '@groundcrew/runtime';
import { boundedResult } from '../content-sizes.js';
import type { SessionHandlers } from '../handler.js';
import type { RareMethod } from '../rare-methods.js';

type Names = Exclude<Extract<keyof Methods, `session.tools.${string}`>, RareMethod>;

export const sessionToolsHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.tools.initializeAndValidate'(_params, { session }) {
    await session.tools.initialize();
    return {};
  },
  async 'session.tools.updateSubagentSettings'({ subagents }, { session }) {
    await session.agents.change((subagents as JsonObject | undefined) ?? null);
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
    const toolset = await session.tools.current();
    if (!toolset) return { tools: null };
    const { tools, deferred } = toolset;
    return {
      tools: [...tools, ...deferred].map((tool) => ({
        name: tool.name,
        description: tool.description,
        input_schema: { ...tool.inputSchema },
        ...tool.mcp,
        ...(deferred.includes(tool) && { deferLoading: true }),
      })),
    };
  },
};
