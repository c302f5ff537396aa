import { writeFile } from 'node:fs/promises';
import { newSpillFile, type SpillPlace } from '../workspace/spilled-output.js';

/** When a result is too long for the model, and where it goes then. */
export interface LargeOutput extends SpillPlace {
  readonly isEnabled: boolean;
  readonly maxBytes: number;
}

/** What a model is shown at once, unless the app says otherwise. */
export const defaultOutputBytes = 20 * 1024;

/** A text as it is, or, when it is too long for the model, a preview and the file that holds all of it. */
export async function boundOutput(output: string, largeOutput: LargeOutput): Promise<string> {
  const bytes = Buffer.byteLength(output);
  if (!largeOutput.isEnabled || bytes <= largeOutput.maxBytes) return output;
  const path = newSpillFile(largeOutput);
  await writeFile(path, output, { mode: 0o600, flag: 'wx' });
  return spilledText({ bytes, path, preview: output });
}

/** What the model is told of an output that went to a file. */
export function spilledText(spilled: {
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

/** A size for people to read. */
export function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}

const previewCharacters = 500;
