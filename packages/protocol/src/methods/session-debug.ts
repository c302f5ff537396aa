import * as z from 'zod/mini';
import { method } from '../define.js';
import { oneOf, openEnum, openObject } from '../schema.js';
import { inSession } from './session-ref.js';

/** What helps to find a fault of a session. */
export const sessionDebugMethods = {
  'session.debug.collectLogs': method(
    'Writes the events of the session, and files that the client names, into an archive or a directory on this machine; secrets are covered.',
    () =>
      inSession({
        destination: oneOf('kind', [
          openObject({
            kind: z.literal('archive'),
            outputPath: z.string(),
            noOverwrite: z.optional(z.boolean()),
          }),
          openObject({ kind: z.literal('directory'), outputDirectory: z.string() }),
        ]),
        include: z.optional(
          openObject({
            events: z.optional(z.boolean()),
            processLogs: z.optional(z.boolean()),
            shellLogs: z.optional(z.boolean()),
            eventsPath: z.optional(z.string()),
            currentProcessLogPath: z.optional(z.string()),
            processLogDirectory: z.optional(z.string()),
            previousProcessLogLimit: z.optional(z.number()),
          }),
        ),
        additionalEntries: z.optional(
          z.array(
            openObject({
              kind: z.enum(['file', 'directory']),
              path: z.string(),
              bundlePath: z.string(),
              redaction: z.optional(z.enum(['plain-text', 'events-jsonl', 'none'])),
              required: z.optional(z.boolean()),
            }),
          ),
        ),
      }),
    () =>
      openObject({
        kind: z.enum(['archive', 'directory']),
        path: z.string(),
        entries: z.array(
          openObject({
            bundlePath: z.string(),
            source: openEnum(['events', 'process-log', 'shell-log', 'additional']),
            sizeBytes: z.number(),
          }),
        ),
        skippedEntries: z.optional(
          z.array(openObject({ bundlePath: z.string(), path: z.optional(z.string()), reason: z.string() })),
        ),
      }),
  ),
};
