import { resolve } from 'node:path';
import type { Methods } from '@groundcrew/protocol';
import { discoverInstructions } from '@groundcrew/runtime';
import type { CallContext, Handlers, SessionHandlers } from '../handler.js';

export const instructionsHandlers: Handlers<
  Pick<Methods, 'instructions.discover' | 'instructions.getDiscoveryPaths'>
> = {
  async 'instructions.discover'(params, context) {
    const found = wanted(params, context).map((each) => discoverInstructions(each));
    return { sources: found.flatMap(({ sources }) => sources) };
  },
  async 'instructions.getDiscoveryPaths'(params, context) {
    const found = wanted(params, context).map((each) => discoverInstructions(each));
    return { paths: found.flatMap(({ paths }) => paths) };
  },
};

export const sessionInstructionsHandlers: SessionHandlers<
  Pick<Methods, 'session.instructions.getSources' | 'session.instructions.reload'>
> = {
  async 'session.instructions.reload'(_params, { session }) {
    await session.tools.instructions();
    return null;
  },
  async 'session.instructions.getSources'(_params, { session }) {
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
  { environment }: CallContext,
) {
  const { workingDirectory, homeDirectory } = environment;
  return [
    ...(excludeHostInstructions ? [] : [{ homeDirectory }]),
    ...projectPaths.map((path) => ({ projectPath: resolve(workingDirectory, path) })),
  ];
}
