import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text } from '../fields.js';
import { openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';

/** The agents of a session. */
export const sessionAgentsMethods = {
  'session.agent.list': method(
    'The agents that clients brought, in their order.',
    () => sparseObject({ includeBuiltInAgents: flag, includePrompt: flag }, { sessionId: text }),
    () =>
      openObject({
        agents: z.array(
          openObject({
            id: z.string(),
            name: z.string(),
            displayName: z.string(),
            description: z.string(),
            tools: z.optional(z.array(z.string())),
            model: z.optional(z.string()),
            skills: z.optional(z.array(z.string())),
            prompt: z.optional(z.string()),
          }),
        ),
      }),
  ),
};
