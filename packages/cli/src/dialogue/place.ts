import type { Session } from '@groundcrew/sdk';

/**
 * The name under which the runtime keeps what is approved for the place that a session works in: its repository, or the directory
 * itself. Where the user is may be elsewhere.
 */
export async function placeOf(session: Session | undefined, usersDirectory: string): Promise<string> {
  if (!session) return usersDirectory;
  const { workingDirectory } = await session.call('session.metadata.snapshot');
  const { locationKey } = await session.call('session.permissions.locations.resolve', { workingDirectory });
  return locationKey;
}
