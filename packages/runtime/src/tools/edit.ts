import { OneAtATime } from '../one-at-a-time.js';
import { HeldDirectory, nameOf, type Ownership, parentOf } from '../workspace/directory.js';
import { locate, openPlace, type Place } from '../workspace/paths.js';
import { defineTool } from './define-tool.js';
import { changeDiff } from './diff.js';
import { optional, text } from './fields.js';
import { writeRecorded } from './file-write.js';
import { kilobytes } from './output.js';
import { permissionToWrite } from './permission-questions.js';
import { isPlan } from './plan-file.js';
import { replaceOnce } from './replacement.js';
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from './tool.js';

/** Of a longer file users are shown what changes, and not all of it. */
const mostShown = 1024 * 1024;

/** Longer files are no text that a model edits. */
const largestFileBytes = 32 * 1024 * 1024;

interface Change {
  readonly place: Place;
  readonly oldText: string;
  readonly newText: string;
}

/** Replaces one exact piece of a file. Edits of the same file made side by side follow one another. */
export function editTool(): Tool {
  const files = new OneAtATime();
  return defineTool({
    name: 'edit',
    description:
      'Replaces one piece of text in a file. old_str must stand in the file exactly once, spaces and line breaks included: give enough lines around it to make it unique.',
    fields: {
      path: text('The file to change; absolute, or relative to the working directory.'),
      old_str: optional(text('The text to replace, exactly as it stands in the file.')),
      new_str: optional(text('The text to put in its place; left out, the old text is removed.')),
    },
    intention: ({ path }) => `edit the file at ${path}.`,
    prepare: async ({ path, old_str: oldText = '', new_str: newText = '' }, context) => {
      const place = await locate(path, context);
      const change: Change = { place, oldText, newText };
      requireFile(change);
      return {
        type: 'run',
        questions: await permissionToWrite(place, async () => {
          const { diff, content } = await plan(change);
          const isShort = content.length <= mostShown;
          return { intention: 'Edit file', diff, ...(isShort && { newFileContents: content.toString() }) };
        }),
        run: () => files.run(place.real, () => edit(change, context)),
      };
    },
  });
}

/** Plans anew: another edit may have been made while this one waited for permission. */
async function edit(change: Change, context: ToolContext): Promise<ToolResult> {
  const { place } = change;
  const { before, content, owner, diff } = await plan(change);
  const write = {
    path: place.path,
    real: place.real,
    before: { content: before, mode: owner.mode },
    after: content,
    diff,
  };
  await writeRecorded(context, write, () =>
    HeldDirectory.use(parentOf(place), (directory) => directory.replace(nameOf(place), content, owner)),
  );
  if (isPlan(place, context)) context.notify({ type: 'session.plan_changed', data: { operation: 'update' } });
  return { type: 'success', text: `File ${place.path} updated with changes.`, details: diff };
}

function requireFile({ place, oldText, newText }: Change): void {
  const { path, kind } = place;
  if (kind === 'missing') {
    const reason = `ENOENT: no such file or directory, open '${path}'`;
    const input = JSON.stringify({ path, old_str: oldText, new_str: newText, command: 'edit' });
    throw new ToolFailure(
      `Failed to execute with arguments: ${input} due to error: Error: ${reason}`,
      reason,
    );
  }
  if (kind !== 'file') throw new ToolFailure(`Path ${path} is not a file.`, 'Not a file');
  if (oldText === newText) {
    throw new ToolFailure(
      `old_str and new_str are the same; no changes made to ${path}.`,
      'Nothing to change',
    );
  }
}

interface Plan {
  readonly before: Buffer;
  readonly content: Buffer;
  readonly owner: Ownership;
  readonly diff: string;
}

async function plan({ place, oldText, newText }: Change): Promise<Plan> {
  const { content: before, owner } = await read(place);
  const replacement = replaceOnce(before, oldText, newText);
  if (replacement.type === 'no_match') throw noMatch(place);
  if (replacement.type === 'ambiguous') throw ambiguous(place, oldText, replacement.lines);
  const { content } = replacement;
  const diff = await changeDiff({ path: place.path, before, after: content });
  return { before, content, owner, diff };
}

async function read(place: Place): Promise<{ readonly content: Buffer; readonly owner: Ownership }> {
  const handle = await openPlace(place);
  try {
    const { size, mode, uid, gid } = await handle.stat();
    if (size > largestFileBytes) {
      throw new ToolFailure(
        `File ${place.path} is too large to edit (${kilobytes(size)}).`,
        'File too large',
      );
    }
    return { content: await handle.readFile(), owner: { mode: mode & 0o7777, uid, gid } };
  } finally {
    await handle.close();
  }
}

function noMatch({ path }: Place): ToolFailure {
  return new ToolFailure(
    `No match found: old_str not found in ${path}; no changes made; you might want to try again with correct old_str`,
    'No match found',
  );
}

/** As much of the text as shows which one is meant. */
const shownCharacters = 50;

function ambiguous({ path }: Place, oldText: string, lines: readonly number[]): ToolFailure {
  const beginning = (oldText.trimStart().split('\n')[0] ?? '').slice(0, shownCharacters);
  return new ToolFailure(
    `Ambiguous match for old_str in ${path}: pattern starting with "${beginning}" matched at lines ${lines.join(', ')}. No changes made; try again with a more specific old_str.`,
    'Multiple matches found',
  );
}
