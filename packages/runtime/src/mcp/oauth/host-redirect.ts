import { AwaitedCallback, type Redirect, readCallback } from './redirect.js';

/** Waits for the app to hand over what the browser brought to an address of its own. */
export interface HostRedirect extends Redirect {
  /** Rejects when the address is not the one that was agreed, or does not know the state of the log-in. */
  arrived(callbackUrl: string): void;
}

/** Throws, in words, for an address that no browser should be sent back to. */
export function hostRedirect(redirectUri: string, state: string): HostRedirect {
  const agreed = URL.canParse(redirectUri) ? new URL(redirectUri) : undefined;
  if (agreed?.protocol !== 'https:' || agreed.search !== '' || agreed.hash !== '' || agreed.username !== '')
    throw new Error("'redirectUri' has to be an https address without query, fragment and user");
  const awaited = new AwaitedCallback();
  return {
    url: redirectUri,
    arrived(callbackUrl) {
      const url = URL.canParse(callbackUrl) ? new URL(callbackUrl) : undefined;
      if (!url || url.origin !== agreed.origin || url.pathname !== agreed.pathname)
        throw new Error("'callbackUrl' is not the address that this log-in comes back to");
      const read = readCallback(url.searchParams, state);
      if (read === undefined) throw new Error('This log-in was not asked for: its state is another one');
      awaited.take(read);
    },
    callback: (signal) => awaited.wait(signal),
    close: () => undefined,
  };
}
