import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Route } from '@groundcrew/http-door';
import { requestBody } from '@groundcrew/models';
import { NoSuchRequest, storedLog } from '@groundcrew/runtime';
import type { SessionStore } from '@groundcrew/store';

/** What the routes of the page need. */
export interface PageParts {
  readonly store: SessionStore;
  /** Masks secrets. */
  redact(text: string): string;
}

/** The page that shows sessions, and what it asks for beside the wire. The page itself has no secret: it needs no token. */
export function pageRoutes({ store, redact }: PageParts): Readonly<Record<string, Route>> {
  return {
    '/': { isOpen: true, answer: async () => answer(html, 'text/html; charset=utf-8') },
    '/inspector.js': { isOpen: true, answer: () => fileOf('inspector.js', 'text/javascript; charset=utf-8') },
    '/inspector.css': { isOpen: true, answer: () => fileOf('inspector.css', 'text/css; charset=utf-8') },
    '/known': { isRead: true, answer: async () => answer('', 'text/plain; charset=utf-8') },
    '/requests': { isRead: true, answer: async (request) => requestOf(request, store, redact) },
    '/usage': { isRead: true, answer: async (request) => usageOf(request, store) },
    '/stored': { isRead: true, answer: async () => json(await storedFacts(store)) },
  };
}

async function requestOf(
  request: Request,
  store: SessionStore,
  redact: PageParts['redact'],
): Promise<Response> {
  const { searchParams: given } = new URL(request.url);
  const [session, turn] = [given.get('session'), given.get('turn') ?? 'last'];
  if (!session) return answer('Expected the name of a session: ?session=…', plain, 400);
  try {
    const stored = await storedLog.request(store, session, /^\d{1,9}$/.test(turn) ? Number(turn) : turn);
    const body = Buffer.from(await requestBody(stored.wire, stored.request)).toString('utf8');
    return answer(redact(body), plain);
  } catch (error) {
    if (error instanceof NoSuchRequest) return answer(error.message, plain, 404);
    throw error;
  }
}

/** What the model calls of a session took, from a place of its log on. */
async function usageOf(request: Request, store: SessionStore): Promise<Response> {
  const { searchParams: given } = new URL(request.url);
  const [session, after] = [given.get('session'), given.get('after') ?? '0'];
  if (!session) return answer('Expected the name of a session: ?session=…', plain, 400);
  if (!/^\d{1,15}$/.test(after)) return answer('That is no place of a log', plain, 400);
  return json(await storedLog.usage(store, session, Number(after)));
}

/** Of the newest sessions, what the wire does not say of those that are not open. */
async function storedFacts(store: SessionStore): Promise<object> {
  const { items } = await store.list();
  return Object.fromEntries(
    items.map(({ sessionId, head, owner }) => [
      sessionId,
      { cost: head.cost ?? null, hasWork: head.hasWork, ...(owner && { openIn: owner.pid }) },
    ]),
  );
}

const plain = 'text/plain; charset=utf-8';

function json(value: object): Response {
  return answer(JSON.stringify(value), 'application/json; charset=utf-8');
}

/** Scripts and styles come from this server only, no other page may frame this one, and it connects only to this server. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Groundcrew</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/inspector.css">
<script type="module" src="/inspector.js"></script>
</head>
<body><div id="app"></div></body>
</html>
`;

async function fileOf(name: string, type: string): Promise<Response> {
  return answer(await readFile(join(import.meta.dirname, name), 'utf8'), type);
}

function answer(body: string, type: string, status = 200): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': type,
      'content-security-policy': policy,
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    },
  });
}
