import { HttpError } from './errors.js';
import type { HttpRequest } from './exchange.js';
import type { Route } from './proxy.js';

/** All of a request but its body, as it is written. */
export function headOf({ method, headers, body }: HttpRequest, route: Route): string {
  const { target, path } = route;
  const all: Readonly<Record<string, string>> = {
    host: target.host,
    connection: 'keep-alive',
    ...credentials(target),
    ...headers,
    ...(method === 'POST' && { 'content-length': String(sizeOf(body)) }),
    ...route.headers,
  };
  let head = `${method} ${path} HTTP/1.1\r\n`;
  for (const name in all) {
    const value = all[name] ?? '';
    if (!token.test(name) || unwritable.test(value)) throw unfit(name);
    head += `${name}: ${value}\r\n`;
  }
  return `${head}\r\n`;
}

const token = /^[\w!#$%&'*+.^`|~-]+$/;
const unwritable = /[^\t\x20-\x7e\x80-\xff]/;

function sizeOf(body: HttpRequest['body'] = []): number {
  return body.reduce((size, piece) => size + piece.byteLength, 0);
}

/** An address may name who asks. */
function credentials({ username, password }: URL): { readonly authorization?: string } {
  if (username === '' && password === '') return {};
  const text = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(text).toString('base64')}` };
}

function unfit(name: string): HttpError {
  const shown = token.test(name) ? `The header ${name}` : 'A header';
  return new HttpError('configuration', `${shown} has characters that HTTP does not allow`);
}
