import type { Session } from '@groundcrew/sdk';

/** The name under which the runtime keeps what is approved for a place: its repository, or the directory itself. */
export async function placeOf(session: Session | undefined, workingDirectory: string): Promise<string> {
  const found = await session?.call('session.permissions.locations.resolve', { workingDirectory });
  return found?.locationKey ?? workingDirectory;
}
