import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.telemetry.${string}`>;

export const sessionTelemetryHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.telemetry.getEngagementId'(_params, { telemetry }) {
    return { engagementId: telemetry.engagementId };
  },
  async 'session.telemetry.setFeatureOverrides'({ sessionId, features }, { telemetry }) {
    telemetry.setFeatures(sessionId, features);
    return null;
  },
};
