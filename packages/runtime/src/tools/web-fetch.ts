import { Forbidden } from '../permissions/policy.js';
import { defineTool } from './define-tool.js';
import type { FetchedPage, WebFetchOptions } from './fetch-page.js';
import { flag, number, optional, text } from './fields.js';
import { type Tool, ToolFailure, type ToolResult } from './tool.js';

const defaultCharacters = 5000;
const mostCharacters = 20_000;

/** Fetches a page of the public web as markdown. */
export function webFetchTool(options: WebFetchOptions): Tool {
  return defineTool({
    name: 'web_fetch',
    description:
      'Fetches a page from the web; HTML becomes markdown. A long page is read in parts: give start_index. Only public addresses can be fetched.',
    changesNothing: true,
    fields: {
      url: text('The http or https address.'),
      max_length: optional(
        number(`Characters to return; ${defaultCharacters} unless given, at most ${mostCharacters}.`, {
          minimum: 1,
          maximum: mostCharacters,
        }),
      ),
      start_index: optional(number('Where to begin in the page, in characters.', { minimum: 0 })),
      raw: optional(flag('Return the page as it was sent, not as markdown.')),
    },
    isRepeatable: true,
    intention: ({ url }) => url,
    prepare: ({ url, max_length, start_index = 0, raw = false }, context) => {
      const address = webAddress(url);
      const part = {
        start: Math.floor(start_index),
        length: Math.min(Math.floor(max_length ?? defaultCharacters), mostCharacters),
      };
      return {
        type: 'run',
        questions: [{ request: { kind: 'url', intention: 'Fetch content from this URL.', url } }],
        run: async (signal) => {
          const { fetchPage } = await import('./fetch-page.js');
          const checkAddress = (next: string) => context.checkAddress?.(next);
          const page = await fetchPage(
            address,
            { ...options, isRaw: raw, jobs: context.jobs, checkAddress },
            signal,
          ).catch((error: unknown) => {
            throw signal.aborted || error instanceof Forbidden ? error : notFetched(url, error);
          });
          return partOf(page, part);
        },
      };
    },
  });
}

function webAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address) throw new ToolFailure(`Failed to fetch ${url}: it is no valid URL.`, 'Invalid URL');
  if (address.protocol !== 'http:' && address.protocol !== 'https:') {
    throw new ToolFailure(`Failed to fetch ${url}: only http and https are supported.`, 'Unsupported URL');
  }
  if (address.username !== '' || address.password !== '') {
    throw new ToolFailure(
      `Failed to fetch ${url}: a URL must not carry a user or password.`,
      'Unsupported URL',
    );
  }
  return address;
}

function notFetched(url: string, error: unknown): ToolFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return new ToolFailure(`Failed to fetch ${url}: ${reason}`, reason);
}

function partOf(
  page: FetchedPage,
  { start, length }: { readonly start: number; readonly length: number },
): ToolResult {
  const all = page.text;
  if (start > 0 && start >= all.length) {
    throw new ToolFailure(
      `start_index ${start} is beyond the end of ${page.url}: it has ${all.length} characters.`,
      'start_index out of bounds',
    );
  }
  const end = Math.min(start + length, all.length);
  const more =
    end < all.length
      ? `\n\n[${all.length - end} more characters. Call web_fetch with start_index ${end} to read on.]`
      : '';
  const cut = page.isCut && more === '' ? '\n\n[The page was too long and was cut here.]' : '';
  return { type: 'success', text: `Contents of ${page.url}:\n${all.slice(start, end)}${more}${cut}` };
}
