import { createHash, timingSafeEqual } from 'node:crypto';

/** The token that a request shows. */
export function tokenOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** Takes the same time whatever differs. */
export function isSameToken(shown: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(shown), digest(expected));
}
