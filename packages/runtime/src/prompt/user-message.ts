import { readdir, stat } from 'node:fs/promises';
import { basename, extname, isAbsolute, resolve } from 'node:path';
import type { Part } from '@groundcrew/models';
import type { JsonObject } from '@groundcrew/protocol';
import { openPlainFile } from '@groundcrew/store';

export interface FormatOptions {
  /** Absent for a word into a running turn, which goes bare. */
  readonly now?: Date;
  readonly workingDirectory: string;
  readonly canSeeImages: boolean;
  /** Types of documents that the model reads as they are. */
  readonly documents: readonly string[];
  readonly isPlanning: boolean;
  /** Stands before the prompt. */
  readonly notice: string;
}

/** A prompt as the model gets it, and its attachments as the event repeats them. */
export interface FormattedPrompt {
  readonly text: string;
  /** Images and text that follow the prompt. */
  readonly parts: readonly Part[];
  readonly attachments: readonly JsonObject[];
  /** Attachments that could not be read, and why; the text says so, too. */
  readonly problems: readonly string[];
}

interface Piece {
  readonly attachment: JsonObject;
  readonly problem?: string;
  /** Goes before everything else. */
  readonly lead?: string;
  readonly taggedFile?: string;
  readonly reference?: string;
  readonly parts?: readonly Part[];
}

/** Wraps a prompt with time, selections and what was attached. */
export async function formatPrompt(
  text: string,
  attachments: readonly JsonObject[],
  options: FormatOptions,
): Promise<FormattedPrompt> {
  const pieces = await Promise.all(attachments.map((attachment) => pieceOf(attachment, options)));
  const leads = pieces.flatMap(({ lead }) => lead ?? []).join('');
  const files = block(
    'tagged_files',
    pieces.flatMap(({ taggedFile }) => taggedFile ?? []),
  );
  const references = block(
    'github_references',
    pieces.flatMap(({ reference }) => reference ?? []),
  );
  const parts = pieces.flatMap(({ parts: own }) => own ?? []);
  const images = parts.some((part) => part.type === 'image') ? imageReminder : '';
  const plan = options.isPlanning ? '[[PLAN]] ' : '';
  return {
    text: `${leads}${options.now ? `<current_datetime>${localIso(options.now)}</current_datetime>\n\n` : ''}${options.notice}${plan}${text}${files}${references}${images}`,
    parts,
    attachments: pieces.map(({ attachment }) => attachment),
    problems: pieces.flatMap(({ problem }) => problem ?? []),
  };
}

const imageReminder =
  '\n\n<system_reminder>\nThe user mentioned images and they have been attached to this message in the order they were mentioned.\n</system_reminder>';

function localIso(now: Date): string {
  return now.toISOString().replace('Z', '+00:00');
}

function block(tag: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `\n\n\n\n<${tag}>\n${lines.join('\n')}\n</${tag}>`;
}

function pieceOf(attachment: JsonObject, options: FormatOptions): Promise<Piece> | Piece {
  switch (attachment.type) {
    case 'file':
      return filePiece(attachment, options);
    case 'directory':
      return directoryPiece(attachment, options);
    case 'selection':
      return selectionPiece(attachment, options);
    case 'blob':
      return blobPiece(attachment, options);
    case 'github_reference':
      return referencePiece(attachment);
    default:
      return urlPiece(attachment);
  }
}

async function filePiece(attachment: JsonObject, options: FormatOptions): Promise<Piece> {
  const path = pathOf(attachment.path, options);
  const named = { displayName: basename(path), ...attachment, path };
  const mimeType = imageTypes[extname(path).toLowerCase()];
  try {
    if (mimeType && options.canSeeImages) {
      const base64 = (await readBounded(path)).toString('base64');
      return {
        attachment: named,
        parts: [
          { type: 'text', text: `Image file at path ${path}` },
          { type: 'image', mimeType, base64 },
        ],
      };
    }
    const documentType = documentTypes[extname(path).toLowerCase()];
    if (documentType && options.documents.includes(documentType)) {
      const base64 = (await readBounded(path)).toString('base64');
      return {
        attachment: named,
        parts: [
          { type: 'text', text: `Document at path ${path}` },
          { type: 'document', mimeType: documentType, base64, name: basename(path) },
        ],
      };
    }
    if ((await stat(path)).isDirectory()) return directoryPiece(attachment, options);
    const taggedFile = `* ${path} (${describeLines(await lengthOf(path), rangeOf(attachment.lineRange))})`;
    return { attachment: { ...named, taggedFilesEntry: taggedFile }, taggedFile };
  } catch (error) {
    const taggedFile = `* ${path} (error: ${String(error)})`;
    const problem = `${path}: ${String(error)}`;
    return { attachment: { ...named, taggedFilesEntry: taggedFile }, taggedFile, problem };
  }
}

async function directoryPiece(attachment: JsonObject, options: FormatOptions): Promise<Piece> {
  const path = pathOf(attachment.path, options);
  const note = await readdir(path).then(
    (names) => `${names.length} items`,
    (error: unknown) => `error: ${String(error)}`,
  );
  const taggedFile = `* ${path} (${note})`;
  return {
    attachment: { displayName: basename(path), ...attachment, path, taggedFilesEntry: taggedFile },
    taggedFile,
  };
}

async function selectionPiece(attachment: JsonObject, options: FormatOptions): Promise<Piece> {
  const filePath = pathOf(attachment.filePath, options);
  const { range, text } = await selected(attachment, filePath);
  const displayName =
    typeof attachment.displayName === 'string' ? attachment.displayName : basename(filePath);
  const [first, last] = [range.start.line + 1, range.end.line + 1];
  const lines = first === last ? `line ${first}` : `lines ${first}-${last}`;
  const lead = `<ide_selection>\nThe user has the following text selected in their IDE. This may or may not be related to their request.\nFile: ${displayName} (${lines})\n\`\`\`\n${text}\n\`\`\`\n</ide_selection>\n\n`;
  return {
    attachment: {
      // The path as it came: the client knows its selection by it.
      ...attachment,
      displayName,
      text,
      selection: { start: { ...range.start }, end: { ...range.end } },
    },
    lead,
  };
}

function blobPiece(attachment: JsonObject, { canSeeImages, documents }: FormatOptions): Piece {
  const mimeType = String(attachment.mimeType ?? 'application/octet-stream');
  const base64 = String(attachment.data ?? '');
  const name = typeof attachment.displayName === 'string' ? attachment.displayName : undefined;
  if (mimeType.startsWith('image/')) {
    if (!canSeeImages)
      return {
        attachment,
        parts: [{ type: 'text', text: `[Image ${name ?? mimeType}: this model cannot see images]` }],
      };
    return {
      attachment,
      parts: [
        { type: 'text', text: name ?? mimeType },
        { type: 'image', mimeType, base64 },
      ],
    };
  }
  if (documents.includes(mimeType)) {
    const document = { type: 'document' as const, mimeType, base64, ...(name !== undefined && { name }) };
    return { attachment, parts: [document] };
  }
  const named = name === undefined ? '' : ` name="${name}"`;
  const body = isText(mimeType)
    ? Buffer.from(base64, 'base64').toString('utf8')
    : `[${Buffer.byteLength(base64, 'base64')} bytes of ${mimeType}]`;
  return {
    attachment,
    parts: [{ type: 'text', text: `<attachment mimeType="${mimeType}"${named}>\n${body}\n</attachment>` }],
  };
}

function referencePiece(attachment: JsonObject): Piece {
  const { number, title, referenceType, state, url } = attachment;
  const marks = [referenceType, state]
    .filter((mark) => mark !== undefined)
    .map((mark) => ` [${String(mark)}]`);
  return {
    attachment,
    reference: `#${String(number)} - ${String(title ?? '')}${marks.join('')} (${String(url ?? '')})`,
  };
}

function urlPiece(attachment: JsonObject): Piece {
  const { type, url, title, payload } = attachment;
  if (typeof url === 'string') return { attachment, reference: `${String(type)}: ${url}` };
  const text = `<attachment type="${String(type)}"${typeof title === 'string' ? ` title="${title}"` : ''}>\n${JSON.stringify(payload ?? attachment)}\n</attachment>`;
  return { attachment, parts: [{ type: 'text', text }] };
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function describeLines(length: string, range: Range | undefined): string {
  if (!range) return length;
  if (range.start === range.end) return `line ${range.start} of ${length}`;
  return `lines ${range.start}-${range.end} of ${length}`;
}

/** In lines; the lines of a very long file are not counted, which would hold up its prompt. */
async function lengthOf(path: string): Promise<string> {
  const { file, size } = await openPlainFile(path);
  if (size <= largestCounted) return `${await countLines(file.createReadStream())} lines`;
  await file.close();
  return `${size} bytes`;
}

const largestCounted = 256 * 1024 * 1024;

/** Piece by piece, so that the file is never in memory as a whole. */
async function countLines(chunks: AsyncIterable<Buffer>): Promise<number> {
  let lines = 0;
  let last = lineFeed;
  for await (const chunk of chunks) {
    for (let at = chunk.indexOf(lineFeed); at !== -1; at = chunk.indexOf(lineFeed, at + 1)) lines += 1;
    last = chunk.at(-1) ?? last;
  }
  return last === lineFeed ? lines : lines + 1;
}

const lineFeed = 0x0a;

/** What goes to the model as it is. */
async function readBounded(path: string): Promise<Buffer> {
  const { file, size } = await openPlainFile(path);
  try {
    if (size <= largestRead) return await file.readFile();
  } finally {
    await file.close();
  }
  throw new Error(`the file has ${size} bytes; at most ${largestRead} are sent to a model`);
}

/** Services accept no larger images or documents. */
const largestRead = 10 * 1024 * 1024;

function rangeOf(value: unknown): Range | undefined {
  if (typeof value !== 'object' || value === null || !('start' in value) || !('end' in value))
    return undefined;
  return { start: Number(value.start), end: Number(value.end) };
}

interface Place {
  readonly line: number;
  readonly character: number;
}

interface Selected {
  readonly range: { readonly start: Place; readonly end: Place };
  readonly text: string;
}

/** A text that is left out is read by the range, a range that is left out is all of the text. */
async function selected(attachment: JsonObject, path: string): Promise<Selected> {
  const range = rangeIn(attachment.selection);
  const given = typeof attachment.text === 'string' ? attachment.text : undefined;
  if (range && given !== undefined) return { range, text: given };
  const text = given ?? (await readBounded(path).then(String, (error: unknown) => `[${String(error)}]`));
  return range ? { range, text: cut(text, range) } : { range: rangeOfAll(text), text };
}

function rangeIn(value: unknown): Selected['range'] | undefined {
  if (typeof value !== 'object' || value === null || !('start' in value) || !('end' in value))
    return undefined;
  return { start: placeOf(value.start), end: placeOf(value.end) };
}

function placeOf(value: unknown): Place {
  const { line, character } = value as Record<string, unknown>;
  return { line: Number(line), character: Number(character) };
}

function rangeOfAll(text: string): Selected['range'] {
  const lines = text.split('\n');
  const end = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
  return { start: { line: 0, character: 0 }, end };
}

function cut(text: string, { start, end }: Selected['range']): string {
  const lines = text.split('\n').slice(start.line, end.line + 1);
  const last = end.line - start.line;
  return lines
    .map((line, index) =>
      line.slice(index === 0 ? start.character : 0, index === last ? end.character : undefined),
    )
    .join('\n');
}

function pathOf(value: unknown, { workingDirectory }: FormatOptions): string {
  const path = String(value ?? '');
  return isAbsolute(path) ? path : resolve(workingDirectory, path);
}

function isText(mimeType: string): boolean {
  return mimeType.startsWith('text/') || /json|xml|yaml|javascript|csv/.test(mimeType);
}

const imageTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

const documentTypes: Readonly<Record<string, string>> = { '.pdf': 'application/pdf' };
