import { writeFile } from 'node:fs/promises';
import { kilobytes, type LargeOutput } from '../tools/output.js';
import type { ToolResult } from '../tools/tool.js';
import { HostFailure } from '../workspace/hosted-files.js';
import { newSpillFile } from '../workspace/spilled-output.js';

/** A result that the model can read at once: a text that is too long goes to a file, and a preview takes its place. */
export async function boundResult(result: ToolResult, largeOutput: LargeOutput): Promise<ToolResult> {
  if (fits(result, largeOutput)) return wholeResult(result);
  const { suffix = '', saved, ...rest } = result;
  const text = saved
    ? spilledText({ ...saved, path: await storedPath(saved.path, largeOutput) })
    : await spill(result.text, largeOutput);
  return { ...rest, text: text + suffix };
}

/** Whether the model may read all of a result at once. */
export function fits({ text, saved, isWhole }: ToolResult, { isEnabled, maxBytes }: LargeOutput): boolean {
  if (saved?.isPartial) return false;
  return !isEnabled || isWhole === true || Buffer.byteLength(text) <= maxBytes;
}

/** A result as hooks see it, and as the model reads one that fits: its text and what stands behind it. */
export function wholeResult(result: ToolResult): ToolResult {
  const { suffix, saved, isWhole, ...rest } = result;
  if (suffix === undefined && saved === undefined && isWhole === undefined) return result;
  const text = saved?.isPartial ? spilledText(saved) : result.text;
  return { ...rest, text: text + (suffix ?? '') };
}

/** The result after hooks have seen it whole: where they left its text, its parts are kept apart for the bound. */
export function reviewedParts(result: ToolResult, reviewed: ToolResult): ToolResult {
  if (reviewed.text !== wholeResult(result).text) return reviewed;
  const { text, suffix, saved, isWhole } = result;
  return {
    ...reviewed,
    text,
    ...(suffix !== undefined && { suffix }),
    ...(saved && { saved }),
    ...(isWhole && { isWhole }),
  };
}

async function spill(text: string, largeOutput: LargeOutput): Promise<string> {
  const path = newSpillFile(largeOutput);
  await writeFile(path, text, { mode: 0o600, flag: 'wx' });
  const shown = await storedPath(path, largeOutput);
  return spilledText({ bytes: Buffer.byteLength(text), path: shown, preview: text });
}

/** What the client that stores the session's files cannot take stays where it is, and can be read there. */
async function storedPath(path: string, { sync }: LargeOutput): Promise<string> {
  if (!sync) return path;
  try {
    await sync.push(path);
    return sync.shown(path);
  } catch (error) {
    if (error instanceof HostFailure) return path;
    throw error;
  }
}

/** What the model reads of an output that is in a file. */
function spilledText(spilled: {
  readonly bytes: number;
  readonly path: string;
  /** The beginning of the output, or all of it. */
  readonly preview: string;
}): string {
  const { bytes, path, preview } = spilled;
  return `Output too large to read at once (${kilobytes(bytes)}). Saved to: ${path}
Consider using tools like grep (for searching), head/tail (for viewing start/end), view with view_range (for specific sections), or jq (for JSON) to examine portions of the output.

Preview (first ${previewCharacters} chars):
${preview.slice(0, previewCharacters)}`;
}

const previewCharacters = 500;
