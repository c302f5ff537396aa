import * as z from 'zod';
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
          argumentHint: z.string().optional(),
          commandName: z.string().optional(),
          path: z.string().optional(),
        }),
      ),
    }),
  ),
  'skill.invoked': durable('A skill joined the conversation.', () =>
    openObject({
      content: z.string(),
      name: z.string(),
      path: z.string(),
      allowedTools: z.array(z.string()).optional(),
      description: z.string().optional(),
      model: z.string().optional(),
      pluginName: z.string().optional(),
      pluginVersion: z.string().optional(),
      source: z.string().optional(),
      trigger: z.enum(['user-invoked', 'agent-invoked', 'context-load']).optional(),
    }),
  ),
};
