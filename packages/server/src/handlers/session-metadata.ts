import type { Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { changedMetadata } from '../client-metadata.js';
import type { SessionHandlers } from '../handler.js';
import { contextIn } from '../working-directory.js';
import { describeWorkspace } from '../workspace.js';

type SessionContextUse = Awaited<ReturnType<Session['measures']['attributedUse']>>;
type Names = Extract<keyof Methods, `session.metadata.${string}`>;

export const sessionMetadataHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.metadata.snapshot'({ sessionId }, { session }) {
    const state = await session.state();
    const { clientName, model } = session.currentSettings;
    const hasWorkspace = session.hasWorkspaceIn(state);
    const summary = state.fixed.name ?? state.summary;
    const selectedModel = state.model ?? model;
    return {
      sessionId,
      startTime: state.createdAt,
      modifiedTime: state.modifiedAt,
      isRemote: false,
      alreadyInUse: false,
      workspacePath: hasWorkspace ? session.workspace.shownDirectory : null,
      workingDirectory: state.context.cwd,
      currentMode: state.mode,
      sessionLimits: Object.keys(state.limits).length > 0 ? state.limits : null,
      clientName,
      workspace: hasWorkspace ? await describeWorkspace(session) : null,
      waitingOn: session.waitingOn,
      ...(summary !== undefined && { summary }),
      ...(selectedModel !== undefined && { selectedModel }),
    };
  },
  async 'session.metadata.getClientMetadata'(_params, { session }) {
    return (await session.state()).fixed.clientMetadata ?? {};
  },
  async 'session.metadata.updateClientMetadata'({ clear, remove, set }, { session }) {
    const { log } = await session.load();
    // No await from here to the append: two clients may change it at the same time.
    const before = log.latest.fixed.clientMetadata ?? {};
    const clientMetadata = changedMetadata(before, { clear, remove, set });
    log.append({ note: 'settings.fixed', data: { clientMetadata } });
    await log.stored();
    return clientMetadata;
  },
  async 'session.metadata.isProcessing'(_params, { session }) {
    return { processing: session.isRunning };
  },
  async 'session.metadata.activity'(_params, { session }) {
    const { isRunning, waitingOn } = session;
    return { abortable: isRunning, hasActiveWork: isRunning, waitingOn };
  },
  async 'session.metadata.contextInfo'({ promptTokenLimit, outputTokenLimit, selectedModel }, { session }) {
    const use = await session.measures.attributedUse();
    return {
      contextInfo: {
        modelName: selectedModel ?? use.model,
        systemTokens: use.systemTokens,
        conversationTokens: use.conversationTokens,
        toolDefinitionsTokens: use.toolDefinitionsTokens,
        mcpToolsTokens: use.mcpToolsTokens,
        totalTokens: use.currentTokens,
        promptTokenLimit,
        compactionThreshold: Math.floor(promptTokenLimit * use.compactionShare),
        limit: promptTokenLimit + outputTokenLimit,
        bufferTokens: outputTokenLimit,
      },
    };
  },
  async 'session.metadata.getContextAttribution'(_params, { session }) {
    return { contextAttribution: attributionOf(await session.measures.attributedUse()) };
  },
  async 'session.metadata.getContextHeaviestMessages'({ limit = 10 }, { session }) {
    const messages = await session.measures.heaviestMessages();
    const totalTokens = messages.reduce((sum, message) => sum + message.tokens, 0);
    return { totalTokens, messages: messages.slice(0, limit) };
  },
  async 'session.metadata.recomputeContextTokens'(_params, { session }) {
    const use = await session.measures.contextUse();
    return {
      // Tool definitions are not counted here: clients add up the two they are given.
      totalTokens: use.systemTokens + use.conversationTokens,
      messagesTokenCount: use.conversationTokens,
      systemTokenCount: use.systemTokens,
    };
  },
  async 'session.metadata.recordContextChange'({ context: changed }, { session }) {
    await session.record({ type: 'session.context_changed', data: changed });
    return {};
  },
  async 'session.metadata.setWorkingDirectory'({ workingDirectory }, { session }) {
    const moved = await contextIn(session, workingDirectory);
    await session.record({ type: 'session.context_changed', data: moved });
    return { workingDirectory: moved.cwd };
  },
};

/** The categories fill the window, each token in one of them, as long as the conversation fits into it. */
function attributionOf(use: SessionContextUse) {
  const { tokenLimit: limit, currentTokens: totalTokens, customInstructionsTokens, mcpToolsTokens } = use;
  const compactionThreshold = Math.floor(limit * use.compactionShare);
  return {
    totalTokens,
    modelId: use.model,
    modelSource: 'session',
    promptTokenLimit: limit,
    limit,
    bufferTokens: limit - compactionThreshold,
    compactionThreshold,
    categories: {
      systemPrompt: use.systemTokens - customInstructionsTokens,
      customInstructions: customInstructionsTokens,
      systemTools: use.toolDefinitionsTokens - mcpToolsTokens,
      mcpTools: mcpToolsTokens,
      messages: use.conversationTokens,
      freeSpace: Math.max(0, compactionThreshold - totalTokens),
      buffer: Math.max(0, limit - Math.max(compactionThreshold, totalTokens)),
    },
    entries: [...use.entries],
    compactions: { count: use.compactions },
  };
}
