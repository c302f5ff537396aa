import type { EventData } from '@groundcrew/protocol';
import type { SessionContext } from '../store/session-store.js';
import type { Metrics } from './metrics.js';
import type { SessionSettings } from './settings.js';
import type { SessionState } from './shape.js';

/** What `session.start` says of the session that begins. */
export function greeting(
  { model, reasoningEffort }: SessionSettings,
  facts: {
    readonly sessionId: string;
    readonly startTime: string;
    readonly version: string;
    readonly context: SessionContext;
  },
): EventData<'session.start'> {
  const { sessionId, startTime, version, context } = facts;
  return {
    sessionId,
    version: 1,
    producer: 'groundcrew',
    copilotVersion: version,
    startTime,
    context,
    alreadyInUse: false,
    remoteSteerable: false,
    ...(model !== undefined && { selectedModel: model }),
    ...(reasoningEffort !== undefined && { reasoningEffort }),
  };
}

/** What `session.shutdown` says of the session that closes. */
export function farewell(
  state: SessionState,
  metrics: Metrics,
  model: string,
): EventData<'session.shutdown'> {
  return {
    shutdownType: 'routine',
    totalPremiumRequests: 0,
    totalApiDurationMs: Math.round(metrics.apiMilliseconds),
    sessionStartTime: Date.parse(state.createdAt),
    codeChanges: { linesAdded: 0, linesRemoved: 0, filesModified: [] },
    modelMetrics: metrics.perModel(),
    currentModel: model,
  };
}
