import { readFileSync, type Stats, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, extname, isAbsolute, join, resolve } from 'node:path';
import type { SentAttachment } from '@groundcrew/sdk';

/** Larger pictures are refused by every service. */
const largestImage = 20 * 1024 * 1024;

const imageTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/**
 * What a prompt names: files and directories after `@`, and pictures by their path alone, as a terminal writes it when one
 * is dropped on it. Pictures go along as bytes, so that a runtime elsewhere sees them too.
 */
export function attachmentsOf(prompt: string, directory: string): readonly SentAttachment[] {
  const named = [...prompt.matchAll(/(?:^|\s)@(?:"((?:\\"|[^"\n])+)"|(\S+))/g)].map(
    ([, quoted, plain = '']) =>
      // A mark after the name may belong to the sentence, or to the name.
      quoted === undefined ? [plain, plain.replace(/[.,;:!?)]+$/, '')] : [quoted.replaceAll('\\"', '"')],
  );
  const dropped = [...prompt.matchAll(imagePath)].map((found) => [unquoted(found[1] ?? '')]);
  const paths = [...named, ...dropped].flatMap(
    (names) =>
      names
        .filter(Boolean)
        .map((name) => placeOf(name, directory))
        .find((path) => statOf(path)) ?? [],
  );
  return [...new Set(paths)].flatMap((path) => attachmentOf(path) ?? []);
}

/** An absolute path, or one from the home, that ends like a picture; blanks in it are quoted or escaped. */
const imagePath =
  /(?:^|\s)((?:\/|~\/|\.{1,2}\/)(?:\\.|[^\s\\])*\.(?:png|jpe?g|gif|webp)|"[^"\n]+\.(?:png|jpe?g|gif|webp)"|'[^'\n]+\.(?:png|jpe?g|gif|webp)'|file:\/\/\S+\.(?:png|jpe?g|gif|webp))(?=$|\s|[.,;:!?)])/gi;

function unquoted(text: string): string {
  if (text.startsWith('file://')) return decoded(text.slice('file://'.length));
  if (/^["']/.test(text)) return text.slice(1, -1);
  return text.replace(/\\(.)/g, '$1');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function placeOf(name: string, directory: string): string {
  if (name.startsWith('~/')) return join(homedir(), name.slice(2));
  return isAbsolute(name) ? name : resolve(directory, name);
}

function attachmentOf(path: string): SentAttachment | undefined {
  const found = statOf(path);
  if (found?.isDirectory()) return { type: 'directory', path };
  if (!found?.isFile()) return undefined;
  const mimeType = imageTypes[extname(path).toLowerCase()];
  if (mimeType === undefined || found.size > largestImage) return { type: 'file', path };
  return { type: 'blob', mimeType, data: readFileSync(path).toString('base64'), displayName: basename(path) };
}

/** What stands behind `@` may be anything: too long for a name, a link to itself. That is no file. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
