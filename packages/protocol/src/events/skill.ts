import * as z from 'zod/mini';
import { durable, ephemeral } from '../define.js';
import { openObject } from '../schema.js';

/** Skills: found and used. */
export const skillEvents = {
  'session.skills_loaded': ephemeral('All skills of the session.', () =>
    openObject({
      skills: z.array(
        openObject({
          description: z.string(),
          enabled: z.boolean(),
          name: z.string(),
          source: z.enum([
            'project',
            'inherited',
            'personal-copilot',
            'personal-agents',
            'plugin',
            'custom',
            'builtin',
          ]),
          userInvocable: z.boolean(),
          argumentHint: z.optional(z.string()),
          commandName: z.optional(z.string()),
          path: z.optional(z.string()),
        }),
      ),
    }),
  ),
  'skill.invoked': durable('A skill joined the conversation.', () =>
    openObject({
      content: z.string(),
      name: z.string(),
      path: z.string(),
      allowedTools: z.optional(z.array(z.string())),
      description: z.optional(z.string()),
      model: z.optional(z.string()),
      pluginName: z.optional(z.string()),
      pluginVersion: z.optional(z.string()),
      source: z.optional(z.string()),
      trigger: z.optional(z.enum(['user-invoked', 'agent-invoked', 'context-load'])),
    }),
  ),
};
