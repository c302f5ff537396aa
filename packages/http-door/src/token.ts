import { createHash, timingSafeEqual } from 'node:crypto';

/** The token that a request shows. */
export function tokenOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** What a WebSocket speaks here. */
export const subprotocol = 'groundcrew';

/** The token that a WebSocket shows as `groundcrew.token.…`, in base64url: a browser can set no other header. */
export function tokenInProtocols(protocols: string | undefined): string | undefined {
  const offered = (protocols ?? '').split(',').map((each) => each.trim());
  const shown = offered.find((each) => each.startsWith(tokenPrefix))?.slice(tokenPrefix.length);
  return shown === undefined ? undefined : Buffer.from(shown, 'base64url').toString('utf8');
}

const tokenPrefix = `${subprotocol}.token.`;

/** Takes the same time whatever differs. */
export function isSameToken(shown: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(shown), digest(expected));
}
