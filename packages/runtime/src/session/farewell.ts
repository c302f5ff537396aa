import type { EventData } from '@groundcrew/protocol';
import type { Metrics } from './metrics.js';
import type { SessionState } from './shape.js';

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
