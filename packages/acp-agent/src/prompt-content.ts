import { existsSync, type Stats, statSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ContentBlock, RequestError } from '@agentclientprotocol/sdk';
import type { MessageOptions, SentAttachment } from '@groundcrew/sdk';

/** A prompt without a form that its answer has to have. */
export type EditorPrompt = Omit<MessageOptions, 'output'>;

/** A prompt of an editor as sessions read it. Throws RequestError for what cannot be read. */
export function promptOf(blocks: readonly ContentBlock[]): EditorPrompt {
  const parts = blocks.map(partOf);
  const shown = parts.map(({ text = '' }) => text).join('');
  const context = parts.map((part) => part.context ?? '').join('');
  const attachments = parts.flatMap(({ attachment }) => attachment ?? []);
  if (shown.trim() === '' && context === '' && attachments.length === 0)
    throw RequestError.invalidParams(undefined, 'the prompt is empty');
  return {
    prompt: `${shown}${context}`,
    ...(context !== '' && { displayPrompt: shown }),
    ...(attachments.length > 0 && { attachments }),
  };
}

interface Part {
  readonly text?: string;
  /** What the model reads behind the prompt. */
  readonly context?: string;
  readonly attachment?: SentAttachment;
}

function partOf(block: ContentBlock): Part {
  switch (block.type) {
    case 'text':
      return { text: block.text };
    case 'image': {
      const { mimeType, data, uri } = block;
      return { attachment: { type: 'blob', mimeType, data, displayName: nameOf(uri ?? 'image') } };
    }
    case 'resource_link':
      return linkOf(block.uri, block.title ?? block.name);
    case 'resource':
      return resourceOf(block.resource);
    default:
      throw RequestError.invalidParams({ type: block.type }, `${block.type} in prompts is not supported`);
  }
}

/** A file or a directory of this machine is attached; any other address is words. */
function linkOf(uri: string, name: string): Part {
  const path = pathOf(uri);
  const found = path === undefined ? undefined : statOf(path);
  if (path === undefined || !found) return { text: `[${name}](${uri})` };
  const type = found.isDirectory() ? ('directory' as const) : ('file' as const);
  return { text: `@${name}`, attachment: { type, path, displayName: name } };
}

/** What an editor links to may be anything: too long for a name, a link to itself. That is no file. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

type Resource = Extract<ContentBlock, { type: 'resource' }>['resource'];

/** What the editor has of a file may not be on the disk yet: its text goes along. */
function resourceOf(resource: Resource): Part {
  const name = nameOf(resource.uri);
  if ('text' in resource) {
    const { uri, text } = resource;
    return { text: `@${name}`, context: `\n\n<context uri=${JSON.stringify(uri)}>\n${text}\n</context>` };
  }
  const mimeType = resource.mimeType ?? 'application/octet-stream';
  return { text: `@${name}`, attachment: { type: 'blob', mimeType, data: resource.blob, displayName: name } };
}

function nameOf(uri: string): string {
  return basename(pathOf(uri) ?? uri) || uri;
}

function pathOf(uri: string): string | undefined {
  if (!uri.startsWith('file:')) return existsSync(uri) ? uri : undefined;
  try {
    return fileURLToPath(uri.replace(/#.*$/, ''));
  } catch {
    return undefined; // a file of another machine
  }
}
