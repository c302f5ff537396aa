import type { Methods } from '@groundcrew/protocol';
import { requirePromptSize } from '../content-sizes.js';
import { Refusal } from '../failure.js';
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
    if (await session.history.isEmpty()) throw new Refusal('Nothing to compact.');
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
  async 'session.history.truncate'({ eventId }, { session }) {
    const { eventsRemoved, cleanupError } = await session.rewinding.truncate(eventId);
    return {
      eventsRemoved,
      checkpointCleanupFailed: cleanupError !== undefined,
      ...(cleanupError !== undefined && { checkpointCleanupError: cleanupError }),
    };
  },
  async 'session.history.listRewindPoints'(_params, { session }) {
    const { isTracking, obstacle, points } = await session.rewinding.points();
    return {
      fileChangeTrackingEnabled: isTracking,
      ...(obstacle && { unavailableReason: obstacle }),
      points: [...points],
    };
  },
  async 'session.history.previewRewind'({ eventId }, { session }) {
    const files = await session.rewinding.preview(eventId);
    if (typeof files === 'string') return { available: false, reason: files, fileCount: 0, files: [] };
    return { available: true, fileCount: files.length, files: [...files] };
  },
  async 'session.history.rewind'({ eventId, mode, force = false }, { session }) {
    if (mode !== 'conversation' && mode !== 'conversation-and-files')
      throw new Refusal(`Invalid rewind mode '${mode}'; expected 'conversation' or 'conversation-and-files'`);
    const withFiles = mode === 'conversation-and-files';
    const result = await session.rewinding.rewind(eventId, { withFiles, force });
    return {
      ...result,
      restoredFiles: [...result.restoredFiles],
      skippedFiles: [...result.skippedFiles],
    };
  },
  async 'session.history.clearContext'({ prompt }, { session }) {
    requirePromptSize(prompt, []);
    return { messagesCleared: await session.history.clear(prompt) };
  },
  async 'session.history.summarizeForHandoff'(_params, { session, signal }) {
    return { summary: await session.history.handoff(signal) };
  },
};
