import * as z from 'zod/mini';
import { notification } from '../define.js';
import { eventEnvelope } from '../events/envelope.js';
import { nodeWait } from '../node-wait.js';
import { openObject } from '../schema.js';

/** What a client receives without asking. */
export const notifications = {
  'gitHubTelemetry.event': notification(
    'What happened in a session, as names, counts and times; only to clients that asked for it.',
    () =>
      openObject({
        sessionId: z.string(),
        restricted: z.boolean(),
        event: openObject({
          kind: z.string(),
          properties: z.record(z.string(), z.string()),
          metrics: z.record(z.string(), z.number()),
          features: z.record(z.string(), z.string()),
          session_id: z.string(),
        }),
      }),
  ),
  'session.event': notification('An event of a session this client is attached to.', () =>
    openObject({ sessionId: z.string(), event: eventEnvelope() }),
  ),
  'runtime.draining': notification(
    'The runtime is about to end: clients of this SDK connect to another node.',
    () => openObject({}),
  ),
  'session.lifecycle': notification('A session came, changed or went; sent to every client.', () =>
    openObject({
      type: z.enum([
        'session.created',
        'session.updated',
        'session.deleted',
        'session.foreground',
        'session.background',
      ]),
      sessionId: z.string(),
      metadata: z.optional(
        openObject({
          startTime: z.string(),
          modifiedTime: z.string(),
          summary: z.optional(z.string()),
          /** It has work, and no live node can go on with it. */
          waitingOn: z.optional(z.array(nodeWait())),
        }),
      ),
    }),
  ),
  'shell.exit': notification('A command that `session.shell.exec` started has ended.', () =>
    openObject({ processId: z.string(), exitCode: z.number() }),
  ),
};

/** The table as a type. */
export type Notifications = typeof notifications;
