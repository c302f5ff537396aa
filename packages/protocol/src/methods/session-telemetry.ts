import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** What goes with the telemetry that a client asked to be forwarded. */
export const sessionTelemetryMethods = {
  'session.telemetry.getEngagementId': method(
    'The id under which the telemetry of this process goes.',
    sessionRef,
    () => openObject({ engagementId: z.optional(z.string()) }),
  ),
  'session.telemetry.setFeatureOverrides': method(
    'Features that later telemetry of the session names.',
    () => inSession({ features: z.record(z.string(), z.string()) }),
    nothing,
  ),
};
