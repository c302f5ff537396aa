import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { JobRunner } from '../exec/workers.js';
import { ownEntry } from '../own-entry.js';
import { addressOf, always } from './pinned-address.js';

/** What web_fetch may reach. */
export interface WebFetchOptions {
  /** Hosts, with or without a port, that may be fetched though their address is not public. */
  readonly allowedHosts: readonly string[];
}

/** How one page is fetched. */
interface FetchOptions extends WebFetchOptions {
  readonly isRaw: boolean;
  readonly jobs: JobRunner;
  /** Throws when rules forbid an address that the page leads to. */
  checkAddress(url: string): void;
}

/** A page as the model reads it. */
export interface FetchedPage {
  readonly url: string;
  readonly text: string;
  /** It was longer than is kept. */
  readonly isCut: boolean;
}

const mostRedirects = 5;
const mostBytes = 5 * 1024 * 1024;
const mostMilliseconds = 30_000;

/** Fetches a page, or throws why not. Every address it leads to is checked, and the connection goes to the very address that was checked. */
export async function fetchPage(
  address: URL,
  options: FetchOptions,
  signal: AbortSignal,
): Promise<FetchedPage> {
  const limit = AbortSignal.timeout(mostMilliseconds);
  const either = AbortSignal.any([signal, limit]);
  try {
    return await follow(address, options, either);
  } catch (error) {
    if (signal.aborted || !limit.aborted) throw error;
    throw new Error(`no answer within ${mostMilliseconds / 1000} seconds`);
  }
}

async function follow(first: URL, options: FetchOptions, signal: AbortSignal): Promise<FetchedPage> {
  let address = first;
  for (let redirects = 0; redirects <= mostRedirects; redirects++) {
    const response = await get(address, await checkedAddress(address, options), signal);
    const { statusCode = 0, headers } = response;
    if (statusCode < 300 || statusCode > 399 || headers.location === undefined) {
      return readPage(address, response, { ...options, signal });
    }
    response.destroy();
    address = redirected(address, headers.location);
    options.checkAddress(address.href);
    await checkedAddress(address, options);
    requireSameHost(first, address);
  }
  throw new Error(`more than ${mostRedirects} redirects`);
}

/** The address to connect to; throws when any address of the host is not public. */
async function checkedAddress(url: URL, { allowedHosts }: WebFetchOptions): Promise<string> {
  const found = await addressOf(url);
  const isAllowed = allowedHosts.includes(url.hostname) || allowedHosts.includes(url.host);
  if (!isAllowed && 'blocked' in found) throw blockedUrl(url.href, found.blocked);
  return found.address;
}

function blockedUrl(url: string, address: string): Error {
  return new Error(
    `WebFetchBlockedUrlError: web_fetch URL "${url}" resolves to blocked address ${address}. URLs must not target loopback, private, or link-local addresses.`,
  );
}

function get(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = send(url, { signal, agent: false, headers: requestHeaders, lookup: always(address) });
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.end();
  });
}

const requestHeaders = {
  accept: 'text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5',
  'accept-encoding': 'gzip, deflate, br',
  'user-agent': 'groundcrew-web-fetch',
};

function redirected(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href)) throw new Error(`it redirects to ${location}, which is no URL`);
  const to = new URL(location, from);
  if (to.protocol === 'https:' || to.protocol === 'http:') return to;
  throw new Error(`it redirects to ${to.href}, and only http and https are supported`);
}

/** Leave was given for one host; what lies on another is a question of its own. */
function requireSameHost(first: URL, now: URL): void {
  if (now.hostname === first.hostname) return;
  throw new Error(`it redirects to another host. To read on, fetch ${now.href} itself`);
}

async function readPage(
  url: URL,
  response: IncomingMessage,
  { isRaw, jobs, signal }: FetchOptions & { readonly signal: AbortSignal },
): Promise<FetchedPage> {
  const { statusCode = 0, statusMessage = '', headers } = response;
  const { bytes, isCut } = await readBody(response);
  if (statusCode >= 400) throw new Error(`HTTP ${statusCode} ${statusMessage}`.trim());
  const type = headers['content-type'] ?? '';
  if (isBinaryType(type) || bytes.subarray(0, 8000).includes(0)) {
    throw new Error(`its content (${type || 'of unknown type'}) is not text`);
  }
  const source = decode(bytes, type);
  const isHtml = /\bhtml\b/i.test(type) || /^\s*<(!doctype html|html)\b/i.test(source);
  const text = isHtml && !isRaw ? await toMarkdown(source, jobs, signal) : source;
  return { url: url.href, text, isCut };
}

/** In a worker: a page of a megabyte takes seconds, and one made with ill will takes all memory it can get. */
function toMarkdown(html: string, jobs: JobRunner, signal: AbortSignal): Promise<string> {
  return jobs
    .run('markdown', { html }, { milliseconds: mostMilliseconds }, signal)
    .catch((error: unknown) => {
      if (signal.aborted || !(error instanceof Error)) throw error;
      throw new Error(`the page could not be read (${error.message}); try raw`);
    });
}

function isBinaryType(type: string): boolean {
  return /^\s*(image|audio|video|font)\//i.test(type) && !/svg/i.test(type);
}

/** Counts what was unpacked: a small answer may hold a huge page. */
async function readBody(
  response: IncomingMessage,
): Promise<{ readonly bytes: Buffer; readonly isCut: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of unpacked(response) as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > mostBytes) break;
    }
  } finally {
    response.destroy();
  }
  return { bytes: Buffer.concat(chunks).subarray(0, mostBytes), isCut: size > mostBytes };
}

function unpacked(response: IncomingMessage): NodeJS.ReadableStream {
  const unpack = ownEntry(unpackers, response.headers['content-encoding']?.trim().toLowerCase() ?? '');
  if (!unpack) return response;
  const stream = unpack();
  response.once('error', (error) => stream.destroy(error));
  return response.pipe(stream);
}

const unpackers: Readonly<
  Record<string, () => ReturnType<typeof createGunzip | typeof createInflate | typeof createBrotliDecompress>>
> = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress };

function decode(bytes: Buffer, type: string): string {
  const named = /charset\s*=\s*"?([^";\s]+)/i.exec(type)?.[1];
  const declared =
    named ?? /<meta[^>]+charset\s*=\s*["']?([\w-]+)/i.exec(bytes.subarray(0, 1024).toString('latin1'))?.[1];
  try {
    return new TextDecoder(declared ?? 'utf-8').decode(bytes);
  } catch {
    // An unknown name: most of the web is UTF-8.
    return new TextDecoder().decode(bytes);
  }
}
