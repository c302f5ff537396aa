import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, number, text } from '../fields.js';
import { once, openEnum, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef } from './session-ref.js';

/** What the model sees of the past. */
export const sessionHistoryMethods = {
  'session.history.abortManualCompaction': method(
    'Ends a compaction that a client asked for.',
    sessionRef,
    () => openObject({ aborted: z.boolean() }),
  ),
  'session.history.cancelBackgroundCompaction': method(
    'Ends a compaction that began by itself.',
    sessionRef,
    () => openObject({ cancelled: z.boolean() }),
  ),
  'session.history.clearContext': method(
    'The model starts from nothing but this prompt; the log keeps what was said.',
    () => inSession({ prompt: z.string() }),
    () => openObject({ messagesCleared: z.number() }),
  ),
  'session.history.compact': method(
    'Puts a summary in the place of the older messages; `success` is false when there was nothing to gain.',
    () =>
      sparseObject(
        {
          customInstructions: text,
          trigger: () => openEnum(['manual', 'model_switch']),
          tokenLimit: number,
        },
        { sessionId: text },
      ),
    () =>
      openObject({
        success: z.boolean(),
        tokensRemoved: z.number(),
        messagesRemoved: z.number(),
        summaryContent: z.optional(z.string()),
        contextWindow: z.optional(
          openObject({
            tokenLimit: z.number(),
            currentTokens: z.number(),
            messagesLength: z.number(),
            systemTokens: z.optional(z.number()),
            conversationTokens: z.optional(z.number()),
            toolDefinitionsTokens: z.optional(z.number()),
          }),
        ),
      }),
  ),
  'session.history.listRewindPoints': method(
    'The prompts to which the session can be taken back, the oldest first.',
    sessionRef,
    () =>
      openObject({
        fileChangeTrackingEnabled: z.boolean(),
        unavailableReason: z.optional(rewindObstacle()),
        points: z.array(
          openObject({
            eventId: z.string(),
            userMessage: z.string(),
            timestamp: z.string(),
            canRestoreFiles: z.boolean(),
            fileCount: z.number(),
            turnChangedFiles: z.boolean(),
            linesAdded: z.number(),
            linesRemoved: z.number(),
            isAutopilotContinuation: z.boolean(),
          }),
        ),
      }),
  ),
  'session.history.previewRewind': method(
    'The files that a rewind would put back; nothing is changed.',
    () => inSession({ eventId: z.string() }),
    () =>
      openObject({
        available: z.boolean(),
        reason: z.optional(rewindObstacle()),
        fileCount: z.number(),
        files: z.array(
          openObject({
            path: z.string(),
            changeType: z.enum(['created', 'deleted', 'modified']),
            linesAdded: z.number(),
            linesRemoved: z.number(),
            /** Others changed it since: it is left as it is unless the rewind is forced. */
            changedSince: z.optional(z.boolean()),
          }),
        ),
      }),
  ),
  'session.history.rewind': method(
    'Takes the session back to before a prompt: the conversation, and files that its tools wrote.',
    () =>
      sparseObject(
        {
          /** Files that others changed since are put back, too. */
          force: flag,
        },
        { sessionId: text, eventId: text, mode: text },
      ),
    () =>
      openObject({
        outcome: openEnum([
          'success',
          'session-busy',
          'file-change-tracking-disabled',
          'unsupported-remote-session',
          'files-rolled-back',
          'rollback-incomplete',
          'truncation-failed',
          'checkpoint-cleanup-failed',
          'snapshot-prune-failed',
        ]),
        eventsRemoved: z.optional(z.number()),
        restoredFiles: z.array(z.string()),
        skippedFiles: z.array(
          openObject({ path: z.string(), reason: z.enum(['user-modified', 'skipped-capture']) }),
        ),
        error: z.optional(z.string()),
      }),
  ),
  'session.history.summarizeForHandoff': method(
    'A summary for an agent that continues elsewhere; the conversation stays as it is.',
    sessionRef,
    () => openObject({ summary: z.string() }),
  ),
  'session.history.truncate': method(
    'Removes an event and all that followed; `session.snapshot_rewind` reports it.',
    () => inSession({ eventId: z.string() }),
    () =>
      openObject({
        eventsRemoved: z.number(),
        checkpointCleanupFailed: z.optional(z.boolean()),
        checkpointCleanupError: z.optional(z.string()),
      }),
  ),
};

const rewindObstacle = once(() =>
  openEnum(['file-change-tracking-disabled', 'session-busy', 'unsupported-remote-session']),
);
