import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isAbsent } from './absent.js';
import { sessionDirectoryIn } from './session-directory.js';

/** What a session puts into its directory; other programs that share a home put other things into theirs. */
const ownNames =
  /^(?:files|temp|checkpoints|rewind-file-snapshots|transcript\.(?:jsonl|mark\.json)|plan\.md(?:\.[\da-f-]+\.tmp)?|session\.db(?:-wal|-shm|-journal)?)$/;

/** The directories of sessions that a home does not have (any more), and that hold nothing but what sessions keep. */
export function leftDirectories(home: string, isKnown: (sessionId: string) => boolean): readonly string[] {
  const root = dirname(sessionDirectoryIn(home, 'any'));
  return entriesOf(root)
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !isKnown(entry.name))
    .map(({ name }) => join(root, name))
    .filter((directory) => {
      const names = entriesOf(directory).map(({ name }) => name);
      return names.every((name) => ownNames.test(name));
    });
}

function entriesOf(directory: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
