import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, texts } from '../fields.js';
import { nothing, once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { sessionRef } from './session-ref.js';

/** Instructions that users and projects keep in files. */
export const instructionsMethods = {
  'instructions.discover': method(
    'The instruction files of projects, and of the user unless they are excluded.',
    () => sparseObject({ projectPaths: texts, excludeHostInstructions: flag }, {}),
    () => openObject({ sources: z.array(source()) }),
  ),
  'instructions.getDiscoveryPaths': method(
    'Where instruction files are looked for, and where new ones belong.',
    () => sparseObject({ projectPaths: texts, excludeHostInstructions: flag }, {}),
    () =>
      openObject({
        paths: z.array(
          openObject({
            path: z.string(),
            location: z.enum(['user', 'repository', 'working-directory', 'plugin']),
            kind: z.enum(['file', 'directory']),
            preferredForCreation: z.boolean(),
            projectPath: z.optional(z.string()),
          }),
        ),
      }),
  ),
  'session.instructions.reload': method(
    'Reads the files of instructions anew, as every prompt does.',
    sessionRef,
    nothing,
  ),
  'session.instructions.getSources': method(
    'The instruction files that hold in the session, as they stand now.',
    sessionRef,
    () => openObject({ sources: z.array(source()) }),
  ),
};

const source = once(() =>
  openObject({
    id: z.string(),
    label: z.string(),
    sourcePath: z.string(),
    content: z.string(),
    type: z.enum(['home', 'repo', 'model', 'vscode', 'nested-agents', 'child-instructions', 'plugin']),
    location: z.enum(['user', 'repository', 'working-directory', 'plugin']),
    /** The files it holds for; absent: all. */
    applyTo: z.optional(z.array(z.string())),
    description: z.optional(z.string()),
    defaultDisabled: z.optional(z.boolean()),
    projectPath: z.optional(z.string()),
  }),
);
