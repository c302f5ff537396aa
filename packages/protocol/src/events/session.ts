import * as z from 'zod';
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
      description: z.string().optional(),
      metadata: z.record(z.string(), z.unknown()).optional(),
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
      subject: z.record(z.string(), z.string()).optional(),
      version: z.number().optional(),
    }),
  ),
  'session.error': durable('Something failed; the turn, if one ran, has ended.', () =>
    openObject({
      errorType: z.string(),
      message: z.string(),
      eligibleForAutoSwitch: z.boolean().optional(),
      errorCode: z.string().optional(),
      providerCallId: z.string().optional(),
      serviceRequestId: z.string().optional(),
      stack: z.string().optional(),
      statusCode: z.number().optional(),
      url: z.string().optional(),
    }),
  ),
  'session.handoff': durable('The session was handed over from elsewhere.', () =>
    openObject({
      handoffTime: z.string(),
      sourceType: z.enum(['remote', 'local']),
      context: z.string().optional(),
      host: z.string().optional(),
      remoteSessionId: z.string().optional(),
      repository: openObject({
        name: z.string(),
        owner: z.string(),
        branch: z.string().optional(),
      }).optional(),
      summary: z.string().optional(),
    }),
  ),
  'session.idle': ephemeral('Nothing runs and nothing waits: the answer is complete.', () =>
    openObject({ aborted: z.boolean().optional() }),
  ),
  'session.info': durable('A notice for people.', () =>
    openObject({
      infoType: z.string(),
      message: z.string(),
      tip: z.string().optional(),
      url: z.string().optional(),
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
      alreadyInUse: z.boolean().optional(),
      context: workingDirectoryContext().optional(),
      contextTier: contextTier().nullable().optional(),
      continuePendingWork: z.boolean().optional(),
      eventsFileSizeBytes: z.number().optional(),
      reasoningEffort: z.string().optional(),
      reasoningSummary: reasoningSummary().optional(),
      remoteSteerable: z.boolean().optional(),
      selectedModel: z.string().optional(),
      sessionLimits: sessionLimits().nullable().optional(),
      sessionWasActive: z.boolean().optional(),
      verbosity: verbosity().optional(),
    }),
  ),
  'session.shutdown': durable('The last client left; what the session used in all.', () =>
    openObject({
      codeChanges: openObject(codeChanges()),
      modelMetrics: z.record(z.string(), modelMetric()),
      sessionStartTime: z.number(),
      shutdownType: z.enum(['routine', 'error']),
      totalApiDurationMs: z.number(),
      agentMetrics: z.record(z.string(), agentMetric()).optional(),
      conversationTokens: z.number().optional(),
      currentModel: z.string().optional(),
      currentTokens: z.number().optional(),
      errorReason: z.string().optional(),
      eventsFileSizeBytes: z.number().optional(),
      systemTokens: z.number().optional(),
      tokenDetails: z.record(z.string(), tokenDetail()).optional(),
      toolDefinitionsTokens: z.number().optional(),
      totalNanoAiu: z.number().optional(),
      totalPremiumRequests: z.number().optional(),
    }),
  ),
  'session.start': durable('The first event of every log.', () =>
    openObject({
      copilotVersion: z.string(),
      producer: z.string(),
      sessionId: z.string(),
      startTime: z.string(),
      version: z.number(),
      alreadyInUse: z.boolean().optional(),
      context: workingDirectoryContext().optional(),
      contextTier: contextTier().nullable().optional(),
      detachedFromSpawningParentSessionId: z.string().optional(),
      githubMcpToolConfig: z.record(z.string(), z.unknown()).optional(),
      reasoningEffort: z.string().optional(),
      reasoningSummary: reasoningSummary().optional(),
      remoteSteerable: z.boolean().optional(),
      selectedModel: z.string().optional(),
      sessionLimits: sessionLimits().optional(),
      verbosity: verbosity().optional(),
    }),
  ),
  'session.task_complete': durable('The agent says that its task is done.', () =>
    openObject({
      objectiveId: z.number().optional(),
      outcome: z.enum(['completed', 'continue', 'blocked']).optional(),
      reason: z.string().optional(),
      success: z.boolean().optional(),
      summary: z.string().optional(),
    }),
  ),
  'session.title_changed': ephemeral('The session has a new title.', () => openObject({ title: z.string() })),
  'session.tools_updated': ephemeral('The tools the model sees were made anew.', () =>
    openObject({ model: z.string() }),
  ),
  'session.warning': durable('A notice for people that something is not as it should be.', () =>
    openObject({ message: z.string(), warningType: z.string(), url: z.string().optional() }),
  ),
};
