import * as z from 'zod/mini';
import { durable, ephemeral } from '../define.js';
import { openObject } from '../schema.js';
import {
  contextTier,
  reasoningSummary,
  sessionLimits,
  verbosity,
  workingDirectoryContext,
} from '../settings.js';
import { agentMetric, codeChanges, modelMetric, tokenDetail } from '../usage.js';

/** A session's life: opened, resumed, named, moved, closed. */
export const sessionEvents = {
  'session.binary_asset': durable('A binary kept once, for events to refer to.', () =>
    openObject({
      assetId: z.string(),
      byteLength: z.number(),
      data: z.string(),
      mimeType: z.string(),
      type: z.enum(['image', 'resource']),
      description: z.optional(z.string()),
      metadata: z.optional(z.record(z.string(), z.unknown())),
    }),
  ),
  'session.context_changed': durable(
    'The working directory or its repository changed.',
    workingDirectoryContext,
  ),
  'session.custom_notification': ephemeral('A notice of an extension, in its own words.', () =>
    openObject({
      name: z.string(),
      payload: z.unknown(),
      source: z.string(),
      subject: z.optional(z.record(z.string(), z.string())),
      version: z.optional(z.number()),
    }),
  ),
  'session.error': durable('Something failed; the turn, if one ran, has ended.', () =>
    openObject({
      errorType: z.string(),
      /** What the model said last, where no answer of the form that was wanted could be had. */
      lastText: z.optional(z.string()),
      message: z.string(),
      eligibleForAutoSwitch: z.optional(z.boolean()),
      errorCode: z.optional(z.string()),
      providerCallId: z.optional(z.string()),
      serviceRequestId: z.optional(z.string()),
      stack: z.optional(z.string()),
      statusCode: z.optional(z.number()),
      url: z.optional(z.string()),
    }),
  ),
  'session.handoff': durable('The session was handed over from elsewhere.', () =>
    openObject({
      handoffTime: z.string(),
      sourceType: z.enum(['remote', 'local']),
      context: z.optional(z.string()),
      host: z.optional(z.string()),
      remoteSessionId: z.optional(z.string()),
      repository: z.optional(
        openObject({
          name: z.string(),
          owner: z.string(),
          branch: z.optional(z.string()),
        }),
      ),
      summary: z.optional(z.string()),
    }),
  ),
  'session.idle': ephemeral('Nothing runs and nothing waits: the answer is complete.', () =>
    openObject({ aborted: z.optional(z.boolean()) }),
  ),
  'session.info': durable('A notice for users.', () =>
    openObject({
      infoType: z.string(),
      message: z.string(),
      tip: z.optional(z.string()),
      url: z.optional(z.string()),
    }),
  ),
  'session.remote_steerable_changed': durable(
    'Others may, or may no longer, steer the session from afar.',
    () => openObject({ remoteSteerable: z.boolean() }),
  ),
  'session.resume': durable('A client opened the session again.', () =>
    openObject({
      eventCount: z.number(),
      resumeTime: z.string(),
      alreadyInUse: z.optional(z.boolean()),
      context: z.optional(workingDirectoryContext()),
      contextTier: z.optional(z.nullable(contextTier())),
      continuePendingWork: z.optional(z.boolean()),
      eventsFileSizeBytes: z.optional(z.number()),
      reasoningEffort: z.optional(z.string()),
      reasoningSummary: z.optional(reasoningSummary()),
      remoteSteerable: z.optional(z.boolean()),
      selectedModel: z.optional(z.string()),
      sessionLimits: z.optional(z.nullable(sessionLimits())),
      sessionWasActive: z.optional(z.boolean()),
      verbosity: z.optional(verbosity()),
    }),
  ),
  'session.shutdown': durable('The last client left; what the session used in all.', () =>
    openObject({
      codeChanges: openObject(codeChanges()),
      modelMetrics: z.record(z.string(), modelMetric()),
      sessionStartTime: z.number(),
      shutdownType: z.enum(['routine', 'error']),
      totalApiDurationMs: z.number(),
      agentMetrics: z.optional(z.record(z.string(), agentMetric())),
      conversationTokens: z.optional(z.number()),
      currentModel: z.optional(z.string()),
      currentTokens: z.optional(z.number()),
      errorReason: z.optional(z.string()),
      eventsFileSizeBytes: z.optional(z.number()),
      systemTokens: z.optional(z.number()),
      tokenDetails: z.optional(z.record(z.string(), tokenDetail())),
      toolDefinitionsTokens: z.optional(z.number()),
      totalNanoAiu: z.optional(z.number()),
      totalPremiumRequests: z.optional(z.number()),
    }),
  ),
  'session.start': durable('The first event of every log.', () =>
    openObject({
      copilotVersion: z.string(),
      producer: z.string(),
      sessionId: z.string(),
      startTime: z.string(),
      version: z.number(),
      alreadyInUse: z.optional(z.boolean()),
      context: z.optional(workingDirectoryContext()),
      contextTier: z.optional(z.nullable(contextTier())),
      detachedFromSpawningParentSessionId: z.optional(z.string()),
      githubMcpToolConfig: z.optional(z.record(z.string(), z.unknown())),
      reasoningEffort: z.optional(z.string()),
      reasoningSummary: z.optional(reasoningSummary()),
      remoteSteerable: z.optional(z.boolean()),
      selectedModel: z.optional(z.string()),
      sessionLimits: z.optional(sessionLimits()),
      verbosity: z.optional(verbosity()),
    }),
  ),
  'session.task_complete': durable('The agent says that its task is done.', () =>
    openObject({
      objectiveId: z.optional(z.number()),
      outcome: z.optional(z.enum(['completed', 'continue', 'blocked'])),
      reason: z.optional(z.string()),
      success: z.optional(z.boolean()),
      summary: z.optional(z.string()),
    }),
  ),
  'session.title_changed': ephemeral('The session has a new title.', () => openObject({ title: z.string() })),
  'session.tools_updated': ephemeral('The tools the model sees were made anew.', () =>
    openObject({ model: z.string() }),
  ),
  'session.warning': durable('A notice for users that something is not as it should be.', () =>
    openObject({ message: z.string(), warningType: z.string(), url: z.optional(z.string()) }),
  ),
};
