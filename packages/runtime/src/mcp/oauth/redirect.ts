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

/** What the browser brings to a redirect, or why nothing comes of it: settled once. */
export class AwaitedCallback {
  private settle: { resolve(value: Callback): void; reject(error: Error): void } | undefined;
  private readonly arrived = new Promise<Callback>((resolve, reject) => {
    this.settle = { resolve, reject };
  });

  constructor() {
    // It may be refused before any caller waits for it.
    this.arrived.catch(() => undefined);
  }

  take(read: Callback | Error): void {
    if (read instanceof Error) this.settle?.reject(read);
    else this.settle?.resolve(read);
  }

  /** Rejects when the signal says that it comes too late. */
  wait(signal: AbortSignal): Promise<Callback> {
    const stop = () => this.take(new Error('the log-in was not finished in time'));
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    return this.arrived.finally(() => signal.removeEventListener('abort', stop));
  }
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
