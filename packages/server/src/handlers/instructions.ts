import { setImmediate as othersTurn } from 'node:timers/promises';
import type { Methods } from '@groundcrew/protocol';
import { discoverInstructions } from '@groundcrew/runtime';
import type { CallContext, Handlers, SessionHandlers } from '../handler.js';
import { namedDirectories } from '../named-directories.js';

export const instructionsHandlers: Handlers<
  Pick<Methods, 'instructions.discover' | 'instructions.getDiscoveryPaths'>
> = {
  async 'instructions.discover'(params, context) {
    const found = await foundIn(params, context);
    return { sources: found.flatMap(({ sources }) => sources) };
  },
  async 'instructions.getDiscoveryPaths'(params, context) {
    const found = await foundIn(params, context);
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

/** Of one place after the other; requests of others are answered between two of them. */
async function foundIn(search: Search, context: CallContext) {
  const found: ReturnType<typeof discoverInstructions>[] = [];
  for (const each of wanted(search, context)) {
    found.push(discoverInstructions(each));
    await othersTurn();
  }
  return found;
}

/** The user's own, and each project's. */
function wanted(
  { projectPaths = [], excludeHostInstructions = false }: Search,
  { environment }: CallContext,
) {
  const { workingDirectory, homeDirectory } = environment;
  return [
    ...(excludeHostInstructions ? [] : [{ homeDirectory }]),
    ...namedDirectories(projectPaths, workingDirectory).map((projectPath) => ({ projectPath })),
  ];
}
