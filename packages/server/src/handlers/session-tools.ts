import type { JsonObject, Methods } from '@groundcrew/protocol';
import type { ExternalAnswer } from '@groundcrew/runtime';
import { boundedResult } from '../bounds.js';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.tools.${string}`>;

export const sessionToolsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.tools.initializeAndValidate'({ sessionId }, context) {
    await findSession('session.tools.initializeAndValidate', sessionId, context).tools.initialize();
    return {};
  },
  async 'session.tools.handlePendingToolCall'({ sessionId, requestId, result, error }, context) {
    const session = findSession('session.tools.handlePendingToolCall', sessionId, context);
    const answer: ExternalAnswer = {
      ...(result !== undefined && { result: boundedResult(result as string | JsonObject) }),
      ...(error !== undefined && { error }),
    };
    return { success: await session.answer({ kind: 'external_tool', requestId }, answer) };
  },
  async 'session.tools.getCurrentMetadata'({ sessionId }, context) {
    const session = findSession('session.tools.getCurrentMetadata', sessionId, context);
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
