import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.history.${string}`>;

export const sessionHistoryHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.history.compact'({ customInstructions, trigger, tokenLimit }, { session, signal }) {
    const ignored = [
      ...(trigger !== undefined && trigger !== 'manual' ? ['trigger'] : []),
      ...(tokenLimit !== undefined ? ['tokenLimit'] : []),
    ];
    for (const name of ignored)
      await session.record({
        type: 'session.warning',
        data: {
          warningType: 'configuration',
          message: `The option '${name}' of session.history.compact has no effect: the session's own window and thresholds count.`,
        },
      });
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
