import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** What of a session comes from files, and what autopilot works towards. */
export const sessionCustomizationsMethods = {
  'session.autopilotObjective.getState': method(
    'How far autopilot is with its objective; null when it has none. Credits are not counted for it.',
    sessionRef,
    () =>
      openObject({
        state: z.nullable(
          openObject({
            id: z.number(),
            objective: z.string(),
            status: z.enum(['active', 'completed', 'paused']),
            turnCount: z.number(),
            creditCountNanoAiu: z.string(),
          }),
        ),
      }),
  ),
  'session.contentExclusion.checkPaths': method(
    'No policy of content exclusion is evaluated here: clients have to take every path for excluded.',
    () => inSession({ paths: z.array(z.string()) }),
    () =>
      openObject({
        available: z.boolean(),
        checks: z.array(openObject({ path: z.string(), excluded: z.boolean() })),
      }),
  ),
  'session.customizations.reload': method(
    'Reads instructions, plugins, skills, agents, MCP servers and extensions anew; one that fails keeps no other from it.',
    sessionRef,
    () =>
      openObject({
        outcomes: z.array(
          openObject({
            subsystem: z.enum([
              'repositoryContext',
              'instructions',
              'plugins',
              'skills',
              'agents',
              'hooks',
              'mcp',
              'extensions',
            ]),
            status: z.enum(['reloaded', 'skipped', 'failed']),
            detail: z.optional(z.string()),
          }),
        ),
        warnings: z.array(z.string()),
        errors: z.array(z.string()),
      }),
  ),
};
