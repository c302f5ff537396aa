/** One published client, ready to be run against the runtime. */
export interface PublishedClient {
  readonly registry: Registry;
  readonly version: string;
  /** What has to be set for it, because nothing on the wire shows which protocol it speaks. */
  readonly environment: Readonly<Record<string, string>>;
  /** What the client has, as its own files show it. */
  readonly features: readonly Feature[];
  /** The program that plays the scenario with it, and its arguments. */
  command(place: Place): readonly [program: string, ...args: readonly string[]];
}

/** Where a client comes from. */
export type Registry = 'npm' | 'pypi';

/** What not every release has. */
export type Feature =
  | 'streaming'
  | 'permissions'
  | 'hooks'
  | 'input'
  | 'runs tools unasked'
  | 'old decisions';

/** What a scenario is given. */
export interface Place {
  readonly runtime: string;
  readonly home: string;
  readonly work: string;
}

/**
 * What has to be said of a release: 0.1.10 to 0.1.14 accept protocol 1 only and begin as those do that accept 2 only;
 * 0.1.31 accepts 3 only and begins as those do that accept 2.
 */
export function environmentFor(version: string): Readonly<Record<string, string>> {
  if (/^0\.1\.1[0-4]$/.test(version)) return { GROUNDCREW_PROTOCOL: '1' };
  return version === '0.1.31' ? { GROUNDCREW_PROTOCOL: '3' } : {};
}
