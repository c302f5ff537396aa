import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text, texts } from '../fields.js';
import { openEnum, openObject } from '../schema.js';
import { agentInfo } from './session-agents.js';

const search = () => openObject({ projectPaths: z.optional(texts()), excludeHostAgents: z.optional(flag()) });

/** Agents that no session is needed for. */
export const agentsMethods = {
  'agents.discover': method('The agents that files of projects and of the user describe.', search, () =>
    openObject({ agents: z.array(agentInfo()), errors: z.optional(texts()) }),
  ),
  'agents.getDiscoveryPaths': method('The directories in which agents are looked for.', search, () =>
    openObject({
      paths: z.array(
        openObject({
          path: text(),
          scope: openEnum(['user', 'project']),
          preferredForCreation: flag(),
          projectPath: z.optional(text()),
        }),
      ),
    }),
  ),
};
