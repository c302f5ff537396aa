import { resolve } from 'node:path';
import type { Methods } from '@groundcrew/protocol';
import { discoverInstructions } from '@groundcrew/runtime';
import { findSession } from '../find.js';
import type { CallContext, Handlers } from '../handler.js';

type Names = 'instructions.discover' | 'instructions.getDiscoveryPaths' | 'session.instructions.getSources';

export const instructionsHandlers: Handlers<Pick<Methods, Names>> = {
  async 'instructions.discover'(params, context) {
    const found = await Promise.all(wanted(params, context).map((each) => discoverInstructions(each)));
    return { sources: found.flatMap(({ sources }) => sources) };
  },
  async 'instructions.getDiscoveryPaths'(params, context) {
    const found = await Promise.all(wanted(params, context).map((each) => discoverInstructions(each)));
    return { paths: found.flatMap(({ paths }) => paths) };
  },
  async 'session.instructions.getSources'({ sessionId }, context) {
    const session = findSession('session.instructions.getSources', sessionId, context);
    return { sources: (await session.tools.instructions()).sources };
  },
};

interface Search {
  readonly projectPaths?: readonly string[] | undefined;
  readonly excludeHostInstructions?: boolean | undefined;
}

/** The user's own, and each project's. */
function wanted(
  { projectPaths = [], excludeHostInstructions = false }: Search,
  { runtime, surroundings }: CallContext,
) {
  const { workingDirectory } = surroundings;
  return [
    ...(excludeHostInstructions ? [] : [{ homeDirectory: runtime.homeDirectory }]),
    ...projectPaths.map((path) => ({ projectPath: resolve(workingDirectory, path) })),
  ];
}
