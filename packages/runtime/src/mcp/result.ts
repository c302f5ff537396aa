import type { Part } from '@groundcrew/models';
import type { JsonObject } from '@groundcrew/protocol';
import type { CallToolResult, ContentBlock, Progress } from '@modelcontextprotocol/client';
import type { ToolResult } from '../tools/tool.js';

/** More characters of one result are not kept, nor more bytes of images and the like. */
const longestText = 4 * 1024 * 1024;
const mostBinary = 16 * 1024 * 1024;

/** What a server answered, as the model and clients are to read it. */
export function resultOfAnswer(server: string, answer: CallToolResult): ToolResult {
  const blocks = answer.content ?? [];
  const texts = blocks.map(textOf);
  const structured = answer.structuredContent;
  const tail = structured === undefined ? '' : `\n\n${JSON.stringify(structured)}`;
  const whole = `${texts.join('')}${tail}`;
  const text =
    whole.length > longestText ? `${whole.slice(0, longestText)}\n… (${whole.length} characters)` : whole;
  if (answer.isError) return { type: 'failure', text: `MCP server '${server}': ${text}` };
  const kept = bounded(blocks);
  const parts = kept.flatMap(partOf);
  const binaries = kept.flatMap(binaryOf);
  const contents = kept.filter(({ type }) => type !== 'text');
  return {
    type: 'success',
    text,
    ...(parts.length > 0 && { parts }),
    ...(binaries.length > 0 && { binaries }),
    ...(contents.length > 0 && { contents: contents as unknown as readonly JsonObject[] }),
    ...(structured !== undefined && { structured: structured as JsonObject }),
    ...(answer._meta && { meta: answer._meta as JsonObject }),
  };
}

/** What of a block the model reads as text. */
function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
      return `[image: ${block.mimeType}]`;
    case 'audio':
      return `[audio: ${block.mimeType}, ${kilobytes(block.data)}]`;
    case 'resource_link':
      return `[resource: ${block.title ?? block.name} (${block.uri})${block.description ? ` ${block.description}` : ''}]`;
    case 'resource':
      return 'text' in block.resource
        ? block.resource.text
        : `[resource: ${block.resource.uri}, ${block.resource.mimeType ?? 'binary'}, ${kilobytes(block.resource.blob)}]`;
    default:
      return '';
  }
}

function kilobytes(base64: string): string {
  return `${Math.ceil((base64.length * 3) / 4 / 1024)} KB`;
}

/** As many blocks as fit; what is left out the text still names. */
function bounded(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  let size = 0;
  return blocks.filter((block) => {
    size += dataOf(block).length;
    return size <= mostBinary;
  });
}

function dataOf(block: ContentBlock): string {
  if (block.type === 'image' || block.type === 'audio') return block.data;
  return block.type === 'resource' && 'blob' in block.resource ? block.resource.blob : '';
}

function partOf(block: ContentBlock): Part[] {
  if (block.type === 'image') return [{ type: 'image', mimeType: block.mimeType, base64: block.data }];
  if (block.type !== 'resource' || !('blob' in block.resource)) return [];
  const { mimeType, blob } = block.resource;
  return mimeType?.startsWith('image/') ? [{ type: 'image', mimeType, base64: blob }] : [];
}

function binaryOf(block: ContentBlock): JsonObject[] {
  if (block.type === 'image') return [{ type: 'image', data: block.data, mimeType: block.mimeType }];
  if (block.type === 'audio') return [{ type: 'resource', data: block.data, mimeType: block.mimeType }];
  if (block.type !== 'resource' || !('blob' in block.resource)) return [];
  const { blob: data, mimeType = 'application/octet-stream', uri } = block.resource;
  return [{ type: mimeType.startsWith('image/') ? 'image' : 'resource', data, mimeType, description: uri }];
}

const longestProgress = 16 * 1024;

/** All that was said of the progress so far, as clients get it. */
export function progressReporter(report: (output: string) => void): (progress: Progress) => void {
  let output = '';
  return ({ progress, total, message }) => {
    const share = total === undefined ? String(progress) : `${progress}/${total}`;
    output = `${output}${message ?? share}\n`.slice(-longestProgress);
    report(output);
  };
}
