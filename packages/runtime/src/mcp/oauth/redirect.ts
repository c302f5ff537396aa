import { timingSafeEqual } from 'node:crypto';

/** What an authorisation server sent back with the browser. */
export interface Callback {
  readonly code: string;
  readonly issuer?: string;
}

/** Where the browser comes back to from an authorisation server. */
export interface Redirect {
  readonly url: string;
  /** Absent where the app around the program receives it. */
  readonly port?: number;
  /** Resolves with what the browser brings; rejects when the log-in was denied, or the signal says so. */
  callback(signal: AbortSignal): Promise<Callback>;
  close(): void;
}

/** Reads what the browser brought; an error says that the log-in was denied. Undefined for one that does not know the state. */
export function readCallback(said: URLSearchParams, state: string): Callback | Error | undefined {
  // A page that was not asked for cannot know it.
  if (!isSame(said.get('state') ?? '', state)) return undefined;
  const code = said.get('code');
  if (code === null || code === '')
    return new Error(`the log-in was denied: ${(said.get('error') ?? 'no code').slice(0, 100)}`);
  const issuer = said.get('iss');
  return { code, ...(issuer !== null && { issuer }) };
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
