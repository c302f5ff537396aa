/** The `Host` values that mean this door, with its port. */
export function allowedHosts({
  host,
  port,
  more,
}: {
  readonly host: string;
  readonly port: number;
  readonly more: readonly string[];
}): ReadonlySet<string> {
  const own = isLoopback(host) ? ['127.0.0.1', 'localhost', '[::1]'] : [bracketed(host)];
  const named = more.flatMap((name) => [name.toLowerCase(), `${name.toLowerCase()}:${port}`]);
  // Port 80 is left out by clients.
  return new Set([
    ...own.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`])),
    ...named,
  ]);
}

/**
 * Why a request may not come in by this name; undefined when it may. A page whose own name was made to lead here (DNS rebinding)
 * sends that name.
 */
export function hostFault(host: string | undefined, allowed: ReadonlySet<string>): string | undefined {
  if (host !== undefined && allowed.has(host.toLowerCase())) return undefined;
  return 'This machine is not known here by that name (Host)';
}

/** The origins of pages that come from here. */
export function ownOrigins(hosts: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...hosts].flatMap((host) => [`http://${host}`, `https://${host}`]));
}

/** Why a page may not make requests; programs send no origin. */
export function originFault(origin: string | undefined, allowed: ReadonlySet<string>): string | undefined {
  if (origin === undefined || allowed.has(origin.toLowerCase())) return undefined;
  return 'Pages of that origin may not make requests here (Origin)';
}

/** Whether only this machine reaches an address. */
function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase();
}
