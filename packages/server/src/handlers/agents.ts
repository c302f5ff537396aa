import type { Methods } from '@groundcrew/protocol';
import type { CallContext, Handlers } from '../handler.js';
import { namedDirectories } from '../named-directories.js';

type Names = Extract<keyof Methods, `agents.${string}`>;

export const agentsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'agents.discover'(search, context) {
    const { agents, problems } = await context.runtime.agents.discover(searchIn(search, context));
    return { agents, ...(problems.length > 0 && { errors: [...problems] }) };
  },
  async 'agents.getDiscoveryPaths'(search, context) {
    return {
      paths: context.runtime.agents.roots(searchIn(search, context)).map(({ path, source, projectPath }) => ({
        path,
        scope: source,
        preferredForCreation: source === 'user' || /[\\/]\.github[\\/]agents$/.test(path),
        ...(projectPath !== undefined && { projectPath }),
      })),
    };
  },
};

function searchIn(
  {
    projectPaths = [],
    excludeHostAgents = false,
  }: { projectPaths?: readonly string[] | undefined; excludeHostAgents?: boolean | undefined },
  { environment }: CallContext,
) {
  return {
    projects: namedDirectories(projectPaths, environment.workingDirectory),
    includesHome: !excludeHostAgents,
  };
}
