import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.history.${string}`>;

export const sessionHistoryHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.history.compact'({ customInstructions }, { session, signal }) {
    const result = await session.history.compact(customInstructions, signal);
    const { model: _model, compactions: _count, ...contextWindow } = await session.measures.contextUse();
    return { ...result, contextWindow };
  },
  async 'session.history.cancelBackgroundCompaction'(_params, { session }) {
    return { cancelled: await session.history.cancelCompaction('background') };
  },
  async 'session.history.abortManualCompaction'(_params, { session }) {
    return { aborted: await session.history.cancelCompaction('manual') };
  },
  async 'session.history.summarizeForHandoff'(_params, { session, signal }) {
    return { summary: await session.history.handoff(signal) };
  },
};
