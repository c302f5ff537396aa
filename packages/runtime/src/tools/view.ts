import type { FileHandle } from 'node:fs/promises';
import { HeldDirectory } from '../workspace/directory.js';
import { locate, openPlace, type Place } from '../workspace/paths.js';
import { isBinary, readLines } from '../workspace/text-lines.js';
import { defineTool } from './define-tool.js';
import { unchangedDiff } from './diff.js';
import { flag, optional, pair, text } from './fields.js';
import { imageType, largestImageBytes } from './image.js';
import { kilobytes } from './output.js';
import { permissionToRead } from './permission-questions.js';
import { type Tool, type ToolContext, ToolFailure, type ToolResult } from './tool.js';

/** Files above this are shown by range only, unless the model insists. */
const easyBytes = 20 * 1024;
/** What is shown at once to a model that insists. */
const forcedBytes = 1024 * 1024;

interface Viewing {
  readonly range?: readonly [number, number];
  readonly isForced: boolean;
  readonly context: ToolContext;
}

/** Shows a file by numbered lines, a directory by its names, an image as it is. */
export function viewTool(): Tool {
  return defineTool({
    name: 'view',
    description:
      'Shows a file with numbered lines, the names in a directory (one level), or an image. A long file is shown in parts: give view_range.',
    changesNothing: true,
    fields: {
      path: text('The file or directory; absolute, or relative to the working directory.'),
      view_range: optional(
        pair('First and last line to show, counted from 1; -1 as the last means the end of the file.'),
      ),
      forceReadLargeFiles: optional(flag('Show the whole file even if it is long.')),
    },
    isRepeatable: true,
    intention: ({ path }) => `view the file at ${path}.`,
    prepare: async ({ path, view_range, forceReadLargeFiles }, context) => {
      const place = await locate(path, context);
      if (place.kind === 'missing') throw noSuchPath(place.path);
      const verb = place.kind === 'directory' ? 'List directory' : 'Read file';
      const viewing: Viewing = {
        isForced: forceReadLargeFiles ?? false,
        context,
        ...(view_range && { range: checkedRange(view_range) }),
      };
      return {
        type: 'run',
        questions: permissionToRead([place], () => `${verb}: ${place.path}`),
        run: (signal) => view(place, viewing, signal),
      };
    },
  });
}

/** The failure of every tool that was given a path to nothing. */
export function noSuchPath(path: string): ToolFailure {
  return new ToolFailure(`Path ${path} does not exist. Please provide a valid path.`, 'Path does not exist');
}

function checkedRange(range: readonly [number, number]): readonly [number, number] {
  const [first, last] = range;
  if (first >= 1 && (last === -1 || last >= first)) return range;
  throw new ToolFailure(
    `Invalid view_range: [${first}, ${last}]. The first line must be at least 1, and the last line -1 or not before the first.`,
    'Invalid view_range',
  );
}

async function view(place: Place, viewing: Viewing, signal: AbortSignal): Promise<ToolResult> {
  if (place.kind === 'directory') return viewDirectory(place);
  if (place.kind !== 'file') {
    throw new ToolFailure(`Path ${place.path} is neither a file nor a directory.`, 'Not a file');
  }
  const handle = await openPlace(place);
  try {
    const { size } = await handle.stat();
    const mimeType = await imageType(handle);
    if (mimeType !== undefined) return await viewImage(place, { handle, size, mimeType });
    if (await isBinary(handle)) {
      throw new ToolFailure(
        `File ${place.path} is binary (${kilobytes(size)}) and cannot be shown as text.`,
        'Binary file',
      );
    }
    return await viewText(place, { handle, size, ...viewing }, signal);
  } finally {
    await handle.close();
  }
}

async function viewDirectory(place: Place): Promise<ToolResult> {
  const names = await HeldDirectory.use(place, (directory) => directory.names());
  return { type: 'success', text: names.join('\n') };
}

async function viewImage(
  place: Place,
  image: { readonly handle: FileHandle; readonly size: number; readonly mimeType: string },
): Promise<ToolResult> {
  if (image.size > largestImageBytes) {
    const sizes = `${kilobytes(image.size)}, at most ${kilobytes(largestImageBytes)}`;
    throw new ToolFailure(`Image ${place.path} is too large to view (${sizes}).`, 'Image too large');
  }
  const data = (await image.handle.readFile()).toString('base64');
  const { mimeType } = image;
  const description = `Image file at path ${place.path}`;
  return {
    type: 'success',
    text: 'Viewed image file successfully.',
    parts: [
      { type: 'text', text: description },
      { type: 'image', mimeType, base64: data },
    ],
    binaries: [{ type: 'image', data, mimeType, description }],
  };
}

async function viewText(
  place: Place,
  file: Viewing & { readonly handle: FileHandle; readonly size: number },
  signal: AbortSignal,
): Promise<ToolResult> {
  const { handle, size, range, isForced } = file;
  if (size === 0 && !range) return { type: 'success', text: '' };
  const maxBytes = isForced ? forcedBytes : easyBytes;
  if (!range && size > maxBytes) return tooLarge(size);
  const [first, end] = range ?? [1, -1];
  const last = end === -1 ? Number.POSITIVE_INFINITY : end;
  const { lines, count, isTooLong } = await readLines(handle, { first, last, maxBytes }, signal);
  if (isTooLong) return tooLarge(size);
  if (count < first) throw beyondEnd(first, count);
  return {
    type: 'success',
    text: lines.map((line, index) => `${first + index}. ${line}`).join('\n'),
    details: unchangedDiff(place.path, lines, first),
    isWhole: true,
  };
}

function tooLarge(size: number): ToolResult {
  return {
    type: 'success',
    text: `File too large to read at once (${kilobytes(size)}). Consider using the grep tool to search within the file, or view with view_range to read specific sections.`,
  };
}

function beyondEnd(first: number, count: number): ToolFailure {
  return new ToolFailure(
    `Invalid view_range: start line (${first}) is beyond the end of the file. The file has ${count} lines.`,
    'view_range out of bounds',
  );
}
