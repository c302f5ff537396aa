import { AlreadyThere, HeldDirectory, nameOf, parentOf } from '../workspace/directory.js';
import { locate, type Place } from '../workspace/paths.js';
import { defineTool } from './define-tool.js';
import { creationDiff } from './diff.js';
import { text } from './fields.js';
import { writeRecorded } from './file-write.js';
import { permissionToWrite } from './permission-questions.js';
import { isPlan } from './plan-file.js';
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from './tool.js';

/** Writes a new file, whole or not at all, and never over another. */
export function createTool(): Tool {
  return defineTool({
    name: 'create',
    description:
      'Creates a new file with the given content. It never overwrites: the path must be free and its directory must exist.',
    fields: {
      path: text('Where to create the file; absolute, or relative to the working directory.'),
      file_text: text('The whole content of the file.'),
    },
    intention: ({ path }) => `create a new file at ${path}.`,
    prepare: async ({ path, file_text }, context) => {
      const place = await locate(path, context);
      if (place.kind !== 'missing') throw alreadyThere(place);
      await requireParent(parentOf(place), context);
      const diff = creationDiff(place.path, file_text);
      return {
        type: 'run',
        questions: await permissionToWrite(place, async () => ({
          intention: 'Create file',
          diff,
          newFileContents: file_text,
        })),
        run: () => create(place, { content: file_text, diff, context }),
      };
    },
  });
}

async function create(
  place: Place,
  file: { readonly content: string; readonly diff: string; readonly context: ToolContext },
): Promise<ToolResult> {
  const { content, diff, context } = file;
  const after = Buffer.from(content);
  await writeRecorded(context, { path: place.path, real: place.real, after, diff }, () =>
    HeldDirectory.use(parentOf(place), (directory) => directory.create(nameOf(place), after)),
  ).catch((error: unknown) => {
    throw error instanceof AlreadyThere ? alreadyThere({ ...place, kind: 'file' }) : error;
  });
  if (isPlan(place, context)) context.notify({ type: 'session.plan_changed', data: { operation: 'create' } });
  context.notify({
    type: 'session.info',
    ephemeral: true,
    data: { infoType: 'file_created', message: place.path },
  });
  return {
    type: 'success',
    text: `Created file ${place.path} with ${content.length} characters`,
    details: diff,
  };
}

function alreadyThere(place: Place): ToolFailure {
  const message = 'Path already exists';
  if (place.kind === 'file') {
    const hint = 'Use `view` to check contents then edit it.';
    return new ToolFailure(`Path ${place.path} already exists as a file. ${hint}`, message);
  }
  const noun = place.kind === 'directory' ? 'a directory' : 'something that is no file';
  return new ToolFailure(`Path ${place.path} already exists as ${noun}.`, message);
}

async function requireParent(parent: Place, context: ToolContext): Promise<void> {
  const { kind } = await locate(parent.real, context);
  if (kind === 'directory') return;
  throw new ToolFailure(
    `Parent directory ${parent.path} does not exist. You need to create it before creating the file.`,
    'Parent directory does not exist',
  );
}
